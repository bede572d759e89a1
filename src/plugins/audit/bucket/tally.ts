import { EnvelopeError } from '../../../core/envelope/error.ts';
import { algorithmName } from '../../../core/envelope/format.ts';
import { type Headers, readEnvelope } from '../../../core/envelope/metadata.ts';

/** What was counted so far; a plain value, so that it can be kept in a file. Sizes in bytes, as they are stored. */
export interface Tally {
  objects: number;
  bytes: number;
  encrypted: number;
  plaintext: number;
  /** With metadata of svc that it would not read back. */
  unreadable: number;
  /** Deleted between the listing and the look at them. */
  vanished: number;
  /** The proxy's own helper objects, which are not looked into. */
  helpers: number;
  /** Objects by key name and version, such as `svc v3`. */
  readonly keyVersions: Record<string, number>;
  readonly algorithms: Record<string, number>;
  readonly forms: Record<string, number>;
  readonly bindings: Record<string, number>;
  /** Unreadable ones by what is wrong with them. */
  readonly mistakes: Record<string, number>;
  /** The first keys of each. */
  readonly plaintextKeys: string[];
  readonly unreadableKeys: string[];
}

export function emptyTally(): Tally {
  return {
    ...{ objects: 0, bytes: 0, encrypted: 0, plaintext: 0, unreadable: 0, vanished: 0, helpers: 0 },
    ...{ keyVersions: {}, algorithms: {}, forms: {}, bindings: {}, mistakes: {} },
    ...{ plaintextKeys: [], unreadableKeys: [] },
  };
}

/** An object as the listing and its metadata tell of it. */
export interface Looked {
  readonly key: string;
  readonly size: number;
  /** Undefined: it is not there any more. */
  readonly headers: Headers | undefined;
}

/** Nonce and tag. */
const smallestBody = 28;

/** @param list most keys to keep of each kind of finding */
export function count(tally: Tally, { key, size, headers }: Looked, list: number): void {
  tally.objects++;
  if (headers === undefined) {
    tally.vanished++;
    return;
  }
  tally.bytes += size;
  try {
    const envelope = readEnvelope(headers);
    if (envelope === undefined) return countPlaintext(tally, key, list);
    if (size < smallestBody) return countUnreadable(tally, key, 'body-too-short', list);
    tally.encrypted++;
    add(tally.keyVersions, `${envelope.keyName.slice(0, longestName)} v${envelope.keyVersion}`);
    add(tally.algorithms, algorithmName);
    add(tally.forms, envelope.keys.form);
    add(tally.bindings, envelope.binding);
  } catch (error) {
    if (!(error instanceof EnvelopeError)) throw error;
    countUnreadable(tally, key, error.reason, list);
  }
}

/** The store does not show its metadata. */
export function countRefused(tally: Tally, { key, size }: Pick<Looked, 'key' | 'size'>, list: number): void {
  tally.objects++;
  tally.bytes += size;
  countUnreadable(tally, key, 'metadata-refused', list);
}

function countPlaintext(tally: Tally, key: string, list: number): void {
  tally.plaintext++;
  if (tally.plaintextKeys.length < list) tally.plaintextKeys.push(key);
}

function countUnreadable(tally: Tally, key: string, mistake: string, list: number): void {
  tally.unreadable++;
  add(tally.mistakes, mistake);
  if (tally.unreadableKeys.length < list) tally.unreadableKeys.push(key);
}

/** Whoever writes to the bucket chooses these names. */
const mostNames = 1_000;
const longestName = 128;
const others = '(others)';

function add(counts: Record<string, number>, name: string): void {
  const known = Object.hasOwn(counts, name) || Object.keys(counts).length < mostNames;
  const under = known ? name : others;
  counts[under] = (Object.hasOwn(counts, under) ? (counts[under] ?? 0) : 0) + 1;
}
