import { createHash } from 'node:crypto';
import { BoundedMap, Remembered } from '../../runtime/bounds/bounded-map.ts';
import { concurrently } from '../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { release } from '../../runtime/memory.ts';
import { EnvelopeError } from '../format/cipher.ts';
import { bodyFormat } from '../format/formats.ts';
import { readPartList, type StoredPartList, serializePartList, verifySeal } from '../format/manifest.ts';
import { type Envelope, type ObjectName, readEnvelope } from '../format/metadata.ts';
import { manifestBytes, manifestKey, manifestOfObject } from '../format/records.ts';
import {
  openMd5,
  openPartChecksums,
  openWholeChecksum,
  type PartChecksums,
} from '../format/sealed-checksums.ts';
import { type HeldMemory, type MemoryBudget, memoryCosts } from '../held-memory.ts';
import type { DataKeys } from '../keys/data-keys.ts';
import type { WholeChecksum } from '../s3/checksum.ts';
import type { BucketFacts } from '../state/bucket-facts.ts';
import { readInTurn, smallText } from '../state/read-in-turn.ts';
import type { DelayedRemovals, PutWhen, StateStore } from '../state/state-store.ts';
import type { Upstream, UpstreamResponse } from '../upstream/upstream.ts';
import { type AccountedList, ListsInUse, type ListUser } from './lists-in-use.ts';

/** 10,000 parts of the longest form take 4 MB. */
export const manifestLimit = 5 * 1024 * 1024;
/** Time after which readers that saw the pointer no longer need the manifest. */
const graceMs = 5 * 60 * 1000;
const presenceLifeMs = 30_000;
/** Bounded because bucket names come from callers. */
const maxBuckets = 1_000;

interface ManifestStoreOptions {
  readonly state: StateStore;
  readonly keys: DataKeys;
  readonly reservedPrefix: string;
  readonly buckets: Pick<BucketFacts, 'keepsVersionsNow'>;
  readonly removals: DelayedRemovals;
  readonly memory: MemoryBudget;
}

/** Bytes of text for a part; entries of copied parts are the longest. */
const textOfPart = 190;

export function createManifests({
  state,
  keys,
  reservedPrefix,
  buckets,
  removals,
  memory,
}: ManifestStoreOptions): Manifests {
  const verified = new BoundedMap<string, VerifiedList>(verifiedBytes, { costOf });
  const inUse = new ListsInUse();
  const present = new Remembered<boolean>(maxBuckets, { mostMs: presenceLifeMs, now: Date.now });

  const readManifest = <T>(
    name: ObjectName,
    id: string,
    parse: (stored: Buffer) => T,
    held: HeldMemory,
  ): Promise<T | undefined> => {
    const key = manifestKey(reservedPrefix, name, id);
    return readInTurn((admit) => state.read(name.bucket, key, manifestLimit, admit), parse, held);
  };

  /** Reads a manifest whose text is not kept in memory afterwards. */
  async function glance<T>(
    name: ObjectName,
    id: string,
    read: (stored: Buffer) => T,
  ): Promise<T | undefined> {
    const held = memory.hold('lists');
    try {
      return await readManifest(name, id, read, held);
    } finally {
      held.release();
    }
  }

  async function loadManifest(
    name: ObjectName,
    { manifest, seal }: { readonly manifest: string; readonly seal: string },
    held: HeldMemory,
  ): Promise<StoredPartList> {
    const list = await readManifest(name, manifest, (stored) => manifestOfObject(stored, name), held);
    if (list?.manifest === manifest && list.seal === seal) return list;
    throw list === undefined
      ? new EnvelopeError(
          'manifest-missing',
          `the part list ${manifest} that the object names does not exist`,
        )
      : new EnvelopeError('manifest-forged', 'the part list is not the one that the object names');
  }

  /** Takes memory for a list that was verified before. */
  async function account(list: StoredPartList, held: HeldMemory): Promise<StoredPartList> {
    const bytes = list.parts.length * textOfPart + (list.sums?.length ?? 0);
    if (bytes > smallText) await held.take(bytes * memoryCosts.listByte);
    return list;
  }

  /** Holds memory for the list until it is released, or until the load fails. */
  async function accounted(
    load: (held: HeldMemory) => Promise<StoredPartList>,
    unused: AbortSignal,
  ): Promise<AccountedList> {
    const held = memory.hold('lists', unused);
    try {
      return { list: await load(held), release: () => held.release() };
    } catch (error) {
      held.release();
      throw error;
    }
  }

  async function verify(
    name: ObjectName,
    envelope: Envelope,
    list: StoredPartList,
    opened: (dek: Buffer) => void,
    signal?: AbortSignal,
  ): Promise<VerifiedList> {
    const purpose = { kind: 'seal', upload: list.manifest, format: list.format } as const;
    const [unwrapped] = await keys.unwrap(name, envelope, [{ wrapped: list.seal, purpose }], signal);
    if (unwrapped === undefined) throw new EnvelopeError('manifest-forged', 'the seal key is not available');
    const { derived, listKey } = bodyFormat(list.format);
    const sealKey = listKey(unwrapped, list.manifest);
    if (derived) opened(unwrapped);
    try {
      verifySeal(sealKey, list);
      const { mac, sum, sums, parts } = list;
      const checksum = sum === undefined ? undefined : openWholeChecksum(sealKey, mac, sum, parts.length);
      const md5 = envelope.md5 === undefined ? undefined : openMd5(sealKey, envelope.md5);
      const ofParts = sums === undefined ? undefined : openPartChecksums(sealKey, mac, sums, parts.length);
      // extends the list in place, because other requests may share it
      return Object.assign(list, checksum && { checksum }, md5 && { md5 }, ofParts && { ofParts });
    } finally {
      sealKey.fill(0);
    }
  }

  async function write(name: ObjectName, list: StoredPartList, when: PutWhen): Promise<void> {
    readPartList({ ...list, v: bodyFormat(list.format).id });
    present.keep(name.bucket, Promise.resolve(true));
    const key = manifestKey(reservedPrefix, name, list.manifest);
    // not released: a store may answer before it has read all of the body
    await state.put(name.bucket, key, manifestBytes(name, list), when);
  }

  return {
    async load(name, envelope, user, opened = forgetKey) {
      const { keys: stored } = envelope;
      if (stored.form === 'single') throw new TypeError('an object of one part has no part list');
      const id = cacheKey(
        name,
        stored.form === 'inline' ? fingerprint(stored.list) : `${stored.manifest} ${stored.seal}`,
        envelope.md5,
      );
      const known = verified.get(id);
      const list =
        stored.form === 'inline'
          ? (known ?? stored.list)
          : await inUse.use(id, user, (unused) =>
              accounted(
                (held) => (known === undefined ? loadManifest(name, stored, held) : account(known, held)),
                unused,
              ),
            );
      if (verified.get(id) === list) return list;
      if (bodyFormat(list.format) !== bodyFormat(envelope.format)) throw otherFormat();
      const found = await verify(name, envelope, list, opened, user.signal);
      verified.set(id, found);
      return found;
    },
    find: (name, id) => glance(name, id, (stored) => manifestOfObject(stored, name)),
    holds: (name, list) => glance(name, list.manifest, (stored) => isManifestOf(stored, name, list)),
    save: (name, list) => write(name, list, 'always'),
    create: (name, list) => write(name, list, 'if-absent'),
    async remove(name, id) {
      await state.delete(name.bucket, [manifestKey(reservedPrefix, name, id)]);
    },
    removeLater(name, id) {
      // versioning may have been enabled meanwhile, and then an older version may need it
      const isUnneeded = async () => (await buckets.keepsVersionsNow(name.bucket)) === 'no';
      removals.add(name.bucket, manifestKey(reservedPrefix, name, id), graceMs, isUnneeded);
    },
    mayExist: (bucket) => present.get(bucket) ?? present.keep(bucket, anyIn(state, bucket, reservedPrefix)),
  };
}

/** Compares the bytes first, because parsing takes four times as much memory. */
function isManifestOf(stored: Buffer, name: ObjectName, list: StoredPartList): boolean {
  const bytes = manifestBytes(name, list);
  const isSame = stored.equals(bytes);
  release(bytes);
  return isSame || isKeptIn(manifestOfObject(stored, name), list);
}

/** Whether the stored manifest has the same list and every checksum of the new one. */
const isKeptIn = (stored: StoredPartList, { mac, sum, sums }: StoredPartList): boolean =>
  stored.mac === mac &&
  (sum === undefined || stored.sum !== undefined) &&
  (sums === undefined || stored.sums !== undefined);

const forgetKey = (dek: Buffer): void => void dek.fill(0);

const otherFormat = () =>
  new EnvelopeError('malformed-metadata', 'the part list is of another format than the object');

/** Also false if the store does not answer; `svc proxy gc` removes what then stays behind. */
async function anyIn(state: StateStore, bucket: string, reservedPrefix: string): Promise<boolean> {
  try {
    for await (const page of state.list(bucket, `${reservedPrefix}manifests/`)) return page.length > 0;
    return false;
  } catch {
    return false;
  }
}

const cacheKey = (name: ObjectName, id: string, md5 = '') => JSON.stringify([name.bucket, name.key, id, md5]);

const fingerprint = (list: StoredPartList) =>
  createHash('sha256').update(serializePartList(list)).digest('base64');

/** Approximate memory for a part, in bytes. */
const partCost = 400;
const listCost = 1000;
/** Memory for verified part lists; they hold wrapped keys only. */
const verifiedBytes = 6 * 1024 * 1024;

const costOf = (_: string, { parts, sums = '' }: StoredPartList) =>
  listCost + parts.length * partCost + 2 * sums.length;

/** A part list whose seal was verified, with the opened digests. */
export type VerifiedList = StoredPartList & KeptOfParts;

interface KeptOfParts {
  readonly checksum?: WholeChecksum;
  /** Base64, as the caller named it. */
  readonly md5?: string;
  /** Checksums of the parts. */
  readonly ofParts?: PartChecksums;
}

/** Part lists of multipart objects, inline or in a manifest object. */
export interface Manifests {
  /**
   * Loads and verifies the part list of an object whose envelope is `inline` or `pointer`; valid until the request
   * ends. A small cache holds lists that were verified before, with wrapped keys only.
   * @param opened receives the DEK of a list in format 2 if it is verified now, and zeroes it
   * @throws EnvelopeError `manifest-missing`, `manifest-forged`, `malformed-metadata`; S3Error SlowDown if there is no
   *   memory for the list
   */
  load(
    name: ObjectName,
    envelope: Envelope,
    user: ListUser,
    opened?: (dek: Buffer) => void,
  ): Promise<VerifiedList>;
  /** The stored manifest without verification of its seal; undefined if there is none. */
  find(name: ObjectName, id: string): Promise<StoredPartList | undefined>;
  /** Whether the stored manifest of the list's id has this list; undefined if there is none. */
  holds(name: ObjectName, list: StoredPartList): Promise<boolean | undefined>;
  save(name: ObjectName, list: StoredPartList): Promise<void>;
  /** Saves the list unless there is a manifest of its id. */
  create(name: ObjectName, list: StoredPartList): Promise<void>;
  remove(name: ObjectName, id: string): Promise<void>;
  /** Deletes a manifest once current readers have had time; if the process ends before, `svc proxy gc` does. */
  removeLater(name: ObjectName, id: string): void;
  /** Whether the bucket's objects may have manifests; the answer is cached, so `false` may be 30 seconds old. */
  mayExist(bucket: string): Promise<boolean>;
}

/** Dependencies for finding and removing manifests. */
interface ManifestParts {
  readonly upstream: Upstream;
  readonly buckets: BucketFacts;
  readonly manifests: Manifests;
  readonly log: Pick<Logger, 'warn'>;
}

const removalsAtOnce = 16;
/** Milliseconds after which the manifest of an object with an inline list has been deleted. */
const inlineGrace = 10 * 60 * 1000;

/**
 * The id of the manifest to delete together with the object; undefined if there is none or the bucket keeps the version
 * that names it.
 */
export async function manifestOf(
  { upstream, buckets }: ManifestParts,
  name: ObjectName,
  signal?: AbortSignal,
): Promise<string | undefined> {
  if ((await buckets.keepsVersions(name.bucket)) !== 'no') return undefined;
  const { status, headers, body } = await upstream.send({
    method: 'HEAD',
    ...name,
    ...(signal && { signal }),
  });
  body.resume();
  return status === 200 ? manifestIn(headers) : undefined;
}

/**
 * The manifest of an object that is about to be replaced. Asks the store only if the bucket may have manifests; a
 * failure counts as none.
 */
export async function manifestToReplace(
  context: ManifestParts,
  name: ObjectName,
  signal?: AbortSignal,
): Promise<string | undefined> {
  try {
    return (await context.manifests.mayExist(name.bucket))
      ? await manifestOf(context, name, signal)
      : undefined;
  } catch {
    // the write itself reports failures of the store
    return undefined;
  }
}

interface Named {
  readonly key: string;
  readonly id: string | undefined;
}

/** Call after the object was deleted or replaced; `svc proxy gc` cleans up after failures. */
export const removeManifest = (context: ManifestParts, { bucket, key }: ObjectName, id: string | undefined) =>
  removeManifests(context, bucket, [{ key, id }]);

/** Removes the manifests of several objects in one bucket. */
export async function removeManifests(
  context: ManifestParts,
  bucket: string,
  named: readonly Named[],
): Promise<void> {
  const wanted = named.filter(({ id }) => id !== undefined);
  if (wanted.length === 0) return;
  try {
    // versioning may have been enabled since, and then older versions still need their manifests
    if ((await context.buckets.keepsVersionsNow(bucket)) !== 'no') return;
    await concurrently(wanted, removalsAtOnce, ({ key, id = '' }) =>
      context.manifests.remove({ bucket, key }, id),
    );
  } catch (error) {
    context.log.warn('proxy.manifest.left', { error: error instanceof Error ? error.message : 'unknown' });
  }
}

/** The manifest that an object with these headers may have. */
export function manifestIn(headers: UpstreamResponse['headers']): string | undefined {
  try {
    const keys = readEnvelope(headers)?.keys;
    if (keys?.form === 'pointer') return keys.manifest;
    return keys?.form === 'inline' && isYoung(headers['last-modified']) ? keys.list.manifest : undefined;
  } catch (error) {
    if (error instanceof EnvelopeError) return undefined;
    throw error;
  }
}

/** True also if the store does not report the time. */
const isYoung = (modified: string | undefined) => !(Date.now() - Date.parse(modified ?? '') > inlineGrace);
