import { algorithmName, EnvelopeError } from '../../../core/envelope/cipher.ts';
import { type Headers, readEnvelope } from '../../../core/envelope/metadata.ts';
import { concurrently } from '../../../runtime/lifecycle/wait.ts';
import type { AuditedObject, AuditStore } from './s3-store.ts';

interface LookOptions {
  readonly store: AuditStore;
  /** Keys that begin with it are the proxy's own. */
  readonly reservedPrefix: string;
  /** Requests at a time. */
  readonly concurrency: number;
  /** Most keys to keep of each kind of finding. */
  readonly list: number;
  readonly signal: AbortSignal;
}

/**
 * Examines every object after a key, page by page, and counts it in the tally.
 * @param onPage called when all of a page is counted, with its last key
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

/** All heads first, in their order, so that a page counts whole or not at all. */
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

/** A share of the objects, from 0 to 1, that lies between the other two in 95 of 100 cases. */
export interface Estimate {
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

export interface ObjectSample {
  /** Objects that were listed, helper objects left out. */
  readonly listed: number;
  /** Of them, those that were examined. */
  readonly looked: number;
  /** Share of ciphertext; absent if there was nothing to examine. */
  readonly encrypted?: Estimate;
}

/**
 * Lists everything, at one call per thousand objects, and examines `size` of them, each with the same probability.
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

/** Wilson's interval; where everything was looked at there is nothing to estimate. */
export function estimate(encrypted: number, looked: number, listed: number): Estimate {
  const share = encrypted / looked;
  if (looked >= listed) return { share, low: share, high: share };
  const weight = 1 + z ** 2 / looked;
  const middle = (share + z ** 2 / (2 * looked)) / weight;
  const reach = (z / weight) * Math.sqrt((share * (1 - share)) / looked + z ** 2 / (4 * looked ** 2));
  return { share, low: Math.max(0, middle - reach), high: Math.min(1, middle + reach) };
}

/** What was counted so far; a plain value, so that it can be kept in a file. Sizes in bytes, as they are stored. */
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
  /** Unreadable ones by what is wrong with them. */
  readonly errors: Record<string, number>;
  /** The first keys of each. */
  readonly plaintextKeys: string[];
  readonly unreadableKeys: string[];
}

export function emptyTally(): Tally {
  return {
    ...{ objects: 0, bytes: 0, encrypted: 0, plaintext: 0, unreadable: 0, vanished: 0, helpers: 0 },
    ...{ keyVersions: {}, algorithms: {}, forms: {}, bindings: {}, errors: {} },
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

/** Nonce and tag; those of an empty object whose key ends in a slash are in its metadata. */
const smallestBody = 28;

/** @param list most keys to keep of each kind of finding */
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
    const fits = envelope.emptySeal === undefined ? size >= smallestBody : size === 0;
    if (!fits) return countUnreadable(tally, key, 'body-too-short', list);
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

/** Anyone who can write to the bucket chooses these names. */
const mostNames = 1_000;
const longestName = 128;
const others = '(others)';

function add(counts: Record<string, number>, name: string): void {
  const known = Object.hasOwn(counts, name) || Object.keys(counts).length < mostNames;
  const under = known ? name : others;
  counts[under] = (Object.hasOwn(counts, under) ? (counts[under] ?? 0) : 0) + 1;
}
