import { EnvelopeError } from '../../../objects/format/cipher.ts';
import { bodyFormat } from '../../../objects/format/formats.ts';
import { type Envelope, type Headers, readEnvelope } from '../../../objects/format/metadata.ts';
import { recipientsOf } from '../../../objects/format/recovery.ts';
import type { Head, ListedObject } from '../engine/command-store.ts';

/** The counts so far; a plain value, so that a file can keep it. Sizes in bytes, as stored. */
export interface Tally {
  objects: number;
  bytes: number;
  encrypted: number;
  plaintext: number;
  /** With svc metadata that the proxy would refuse to read. */
  unreadable: number;
  /** Deleted between the listing and the examination. */
  vanished: number;
  /** The proxy's own helper objects, which are not examined. */
  helpers: number;
  /** Objects by key name and version, such as `svc v3`. */
  readonly keyVersions: Record<string, number>;
  readonly algorithms: Record<string, number>;
  readonly forms: Record<string, number>;
  readonly bindings: Record<string, number>;
  /** Objects that recovery keys open without a key server, by their number of recovery keys. */
  readonly recovery: Record<string, number>;
  /** Unreadable objects by the kind of error. */
  readonly errors: Record<string, number>;
  /** The first keys of each kind. */
  readonly plaintextKeys: string[];
  readonly unreadableKeys: string[];
}

export function emptyTally(): Tally {
  return {
    ...{ objects: 0, bytes: 0, encrypted: 0, plaintext: 0, unreadable: 0, vanished: 0, helpers: 0 },
    ...{ keyVersions: {}, algorithms: {}, forms: {}, bindings: {}, recovery: {}, errors: {} },
    ...{ plaintextKeys: [], unreadableKeys: [] },
  };
}

/** @param list limit of keys to keep for each kind of finding */
export function countHead(tally: Tally, { key, size }: ListedObject, head: Head, list: number): void {
  tally.objects++;
  if (head.found === false) {
    tally.vanished++;
    return;
  }
  tally.bytes += size;
  if (head.found === 'refused') return countUnreadable(tally, key, 'metadata-refused', list);
  countMetadata(tally, { key, size, headers: head.headers }, list);
}

interface Looked {
  readonly key: string;
  readonly size: number;
  readonly headers: Headers;
}

function countMetadata(tally: Tally, { key, size, headers }: Looked, list: number): void {
  try {
    const envelope = readEnvelope(headers);
    if (envelope === undefined) return countPlaintext(tally, key, list);
    if (!fits(envelope, size)) return countUnreadable(tally, key, 'body-too-short', list);
    tally.encrypted++;
    add(tally.keyVersions, `${envelope.keyName.slice(0, longestName)} v${envelope.keyVersion}`);
    add(tally.algorithms, bodyFormat(envelope.format).algorithm);
    add(tally.forms, envelope.keys.form);
    add(tally.bindings, envelope.binding);
    if (envelope.recovery !== undefined) add(tally.recovery, keysOf(envelope.recovery));
  } catch (error) {
    if (!(error instanceof EnvelopeError)) throw error;
    countUnreadable(tally, key, error.reason, list);
  }
}

function fits({ format, keys, emptySeal }: Envelope, size: number): boolean {
  if (emptySeal !== undefined) return size === 0;
  const { derived, plaintextSize } = bodyFormat(format);
  return (derived && keys.form !== 'single') || plaintextSize(size) !== undefined;
}

const keysOf = (recovery: string): string => {
  const count = recipientsOf(recovery);
  return count === 1 ? '1 key' : `${count} keys`;
};

function countPlaintext(tally: Tally, key: string, list: number): void {
  tally.plaintext++;
  if (tally.plaintextKeys.length < list) tally.plaintextKeys.push(key);
}

function countUnreadable(tally: Tally, key: string, error: string, list: number): void {
  tally.unreadable++;
  add(tally.errors, error);
  if (tally.unreadableKeys.length < list) tally.unreadableKeys.push(key);
}

/** Bounds on names, which anyone who can write to the bucket chooses. */
const mostNames = 1_000;
const longestName = 128;
const others = '(others)';

function add(counts: Record<string, number>, name: string): void {
  const known = Object.hasOwn(counts, name) || Object.keys(counts).length < mostNames;
  const under = known ? name : others;
  counts[under] = (Object.hasOwn(counts, under) ? (counts[under] ?? 0) : 0) + 1;
}

/** A share of the objects, from 0 to 1, with its 95 % confidence interval. */
export interface Estimate {
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

export interface ObjectSample {
  /** Number of listed objects, without helper objects. */
  readonly listed: number;
  /** Number of examined objects among them. */
  readonly looked: number;
  /** Share of ciphertext; absent if there was nothing to examine. */
  readonly encrypted?: Estimate;
}

/** @param listed number of listed objects, of which the tally has a sample */
export function sampleOf(tally: Tally, listed: number): ObjectSample {
  const looked = tally.objects - tally.vanished;
  return { listed, looked, ...(looked > 0 && { encrypted: estimate(tally.encrypted, looked, listed) }) };
}

const z = 1.96;

/** Wilson's interval; exact if everything was examined. */
export function estimate(encrypted: number, looked: number, listed: number): Estimate {
  const share = encrypted / looked;
  if (looked >= listed) return { share, low: share, high: share };
  const weight = 1 + z ** 2 / looked;
  const middle = (share + z ** 2 / (2 * looked)) / weight;
  const reach = (z / weight) * Math.sqrt((share * (1 - share)) / looked + z ** 2 / (4 * looked ** 2));
  return { share, low: Math.max(0, middle - reach), high: Math.min(1, middle + reach) };
}
