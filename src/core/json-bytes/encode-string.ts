import { char } from './bytes.ts';

/** Printable ASCII, the whole of what a token may be made of, with what JSON wants escaped; without the quotes. */
export function* escapedRuns(bytes: Uint8Array): Generator<Uint8Array> {
  let start = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== char.quote && bytes[at] !== char.backslash) continue;
    yield bytes.subarray(start, at);
    yield backslash;
    start = at;
  }
  yield bytes.subarray(start);
}

const backslash = Buffer.from('\\');
