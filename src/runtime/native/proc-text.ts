import { closeSync, openSync, readSync } from 'node:fs';

export interface TextLimits {
  /** Default: a line end. */
  readonly separator?: '\n' | ' ';
  /** Of the whole text. */
  readonly maxBytes: number;
}

const pieceLength = 65_536;
/** A line of mountinfo holds three paths, in which the kernel writes some characters as four, and options. */
const maxPartBytes = 131_072;

/**
 * Reads a text part by part, never as a whole: how long a file of /proc is, the processes decide that it tells about.
 * Empty parts are left out.
 * @throws RangeError for a text that is too long, after the parts that are allowed; what opening and reading throw
 */
export function* partsOf(path: string, { separator = '\n', maxBytes }: TextLimits): Generator<string, void> {
  const end = separator.charCodeAt(0);
  const buffer = Buffer.allocUnsafe(maxPartBytes + pieceLength);
  const descriptor = openSync(path, 'r');
  try {
    for (let [held, total, length] = [0, 0, 1]; length > 0; ) {
      length = readSync(descriptor, buffer, held, pieceLength, null);
      total += length;
      if (total > maxBytes) throw new RangeError(`${path} is longer than ${maxBytes} bytes`);
      const filled = buffer.subarray(0, held + length);
      const rest = yield* wholeParts(filled, end);
      held = filled.length - rest;
      if (held > maxPartBytes) throw new RangeError(`${path} has a part of more than ${maxPartBytes} bytes`);
      if (length === 0 && held > 0) yield filled.toString('utf8', rest);
      buffer.copyWithin(0, rest, filled.length);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** @returns where the part begins whose end is not there yet */
function* wholeParts(bytes: Buffer, separator: number): Generator<string, number> {
  let from = 0;
  for (let at = bytes.indexOf(separator); at >= 0; at = bytes.indexOf(separator, from)) {
    if (at > from) yield bytes.toString('utf8', from, at);
    from = at + 1;
  }
  return from;
}
