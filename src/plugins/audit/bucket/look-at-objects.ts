import { EnvelopeError } from '../../../objects/format/cipher.ts';
import { algorithmOf, type Envelope, type Headers, readEnvelope } from '../../../objects/format/metadata.ts';
import { recipientsOf } from '../../../objects/format/recovery.ts';
import { plaintextOfSegments } from '../../../objects/format/segments.ts';
import { concurrently } from '../../../runtime/lifecycle/wait.ts';
import type { AuditedObject, AuditStore } from './s3-store.ts';

interface LookOptions {
  readonly store: AuditStore;
  /** Prefix of the proxy's own keys. */
  readonly reservedPrefix: string;
  /** Limit of concurrent requests. */
  readonly concurrency: number;
  /** Limit of keys to keep for each kind of finding. */
  readonly list: number;
  readonly signal: AbortSignal;
}

/**
 * Examines every object after a key, page by page, and counts it in the tally.
 * @param onPage called when a whole page is counted, with its last key
 */
export async function auditAll(
  tally: Tally,
  after: string | undefined,
  options: LookOptions,
  onPage: (lastKey: string) => void,
): Promise<void> {
  for await (const page of options.store.pages(after, options.signal)) {
    const objects = withoutHelpers(page, tally, options);
    await lookAt(objects, tally, options);
    const last = page.at(-1);
    if (last !== undefined) onPage(last.key);
    options.signal.throwIfAborted();
  }
}

function withoutHelpers(
  page: readonly AuditedObject[],
  tally: Tally,
  { reservedPrefix }: Pick<LookOptions, 'reservedPrefix'>,
): readonly AuditedObject[] {
  const objects = page.filter(({ key }) => !key.startsWith(reservedPrefix));
  tally.helpers += page.length - objects.length;
  return objects;
}

/** Reads all heads before counting, in order, so that a page counts completely or not at all. */
async function lookAt(
  objects: readonly AuditedObject[],
  tally: Tally,
  { store, concurrency, list, signal }: LookOptions,
): Promise<void> {
  const heads = await concurrently(objects, concurrency, ({ key }) => store.head(key, signal));
  objects.forEach((object, index) => {
    const head = heads[index];
    if (head === undefined || head.found === 'refused') countRefused(tally, object, list);
    else count(tally, { ...object, headers: head.found ? head.headers : undefined }, list);
  });
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

/**
 * Lists everything, with one call per thousand objects, and examines `size` objects, all with the same probability.
 * @param random from 0 to below 1
 */
export async function auditSample(
  tally: Tally,
  size: number,
  options: LookOptions,
  onPage: (listed: number) => void,
  random: () => number = Math.random,
): Promise<ObjectSample> {
  const chosen: AuditedObject[] = [];
  let listed = 0;
  for await (const page of options.store.pages(undefined, options.signal)) {
    for (const object of withoutHelpers(page, tally, options)) {
      const place = listed < size ? listed : Math.floor(random() * (listed + 1));
      listed++;
      if (place < size) chosen[place] = object;
    }
    onPage(listed);
    options.signal.throwIfAborted();
  }
  await lookAt(chosen, tally, options);
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

/** An object from the listing, with its metadata. */
export interface Looked {
  readonly key: string;
  readonly size: number;
  /** Undefined if the object no longer exists. */
  readonly headers: Headers | undefined;
}

/** Nonce and tag. An empty object whose key ends in a slash has them in its metadata. */
const smallestBody = 28;

/** @param list limit of keys to keep for each kind of finding */
function count(tally: Tally, { key, size, headers }: Looked, list: number): void {
  tally.objects++;
  if (headers === undefined) {
    tally.vanished++;
    return;
  }
  tally.bytes += size;
  try {
    const envelope = readEnvelope(headers);
    if (envelope === undefined) return countPlaintext(tally, key, list);
    if (!fits(envelope, size)) return countUnreadable(tally, key, 'body-too-short', list);
    tally.encrypted++;
    add(tally.keyVersions, `${envelope.keyName.slice(0, longestName)} v${envelope.keyVersion}`);
    add(tally.algorithms, algorithmOf(envelope.format));
    add(tally.forms, envelope.keys.form);
    add(tally.bindings, envelope.binding);
    if (envelope.recovery !== undefined) add(tally.recovery, keysOf(envelope.recovery));
  } catch (error) {
    if (!(error instanceof EnvelopeError)) throw error;
    countUnreadable(tally, key, error.reason, list);
  }
}

function fits({ format, keys, emptySeal }: Envelope, size: number): boolean {
  if (format === 2) return keys.form !== 'single' || plaintextOfSegments(size) !== undefined;
  return emptySeal === undefined ? size >= smallestBody : size === 0;
}

const keysOf = (recovery: string): string => {
  const count = recipientsOf(recovery);
  return count === 1 ? '1 key' : `${count} keys`;
};

/** Counts an object whose metadata the store refuses to return. */
function countRefused(tally: Tally, { key, size }: Pick<Looked, 'key' | 'size'>, list: number): void {
  tally.objects++;
  tally.bytes += size;
  countUnreadable(tally, key, 'metadata-refused', list);
}

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
