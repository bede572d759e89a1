import { concurrently } from '../../runtime/lifecycle/wait.ts';
import type { ObjectServices } from '../context.ts';
import type { PartEntry } from '../format/body-format.ts';
import { EnvelopeError, nonceBytes, storedSize } from '../format/cipher.ts';
import {
  type PartList,
  plaintextListSize,
  type SegmentedPartList,
  type StoredPartList,
  storedListSize,
} from '../format/manifest.ts';
import { type ObjectName, readEnvelope } from '../format/metadata.ts';
import { fetchStored, type StoredObject, versionQuery } from '../read/stored-object.ts';
import type { WholeChecksum } from '../s3/checksum.ts';
import { readBody, refusal } from '../upstream/upstream.ts';
import { removeManifest } from './manifest-store.ts';
import { identityOf } from './replaced-object.ts';
import type { UploadRecord } from './upload-record.ts';

/** The result of a Complete. */
export interface Completed extends ObjectName {
  /** The store's ETag, quoted. */
  readonly etag: string;
  readonly versionId?: string | undefined;
  /** Of the plaintext, if the Complete or the Create named one. */
  readonly checksum?: WholeChecksum | undefined;
}

/** An object that an earlier attempt at an upload created; of which list, `hasParts` tells. */
export interface CompletedObject extends Completed {
  readonly stored: StoredObject;
}

/** What is at the key of an upload. */
export interface ObjectAtKey {
  /** Undefined if no attempt at the upload created what is there. */
  readonly object: CompletedObject | undefined;
  /** See `identityOf`. */
  readonly identity: string | undefined;
}

/** @param versionId the current version if undefined; a version that the store does not return counts as none */
export async function objectAtKey(
  { upstream, reader }: ObjectServices,
  { bucket, key, manifest }: UploadRecord,
  versionId?: string,
): Promise<ObjectAtKey> {
  const address = { name: { bucket, key }, versionId, access: {} };
  const response = await upstream.send({
    method: 'HEAD',
    ...address.name,
    query: versionQuery(address),
  });
  response.body.resume();
  const { status, headers } = response;
  const identity = identityOf(response);
  if (status === 404 || (status !== 200 && versionId !== undefined)) return { object: undefined, identity };
  if (status !== 200) throw await refusal(response);
  const keys = readEnvelope(headers)?.keys;
  const id =
    keys?.form === 'pointer' ? keys.manifest : keys?.form === 'inline' ? keys.list.manifest : undefined;
  if (id !== manifest) return { object: undefined, identity };
  const stored = reader.describe(address, headers);
  const version = headers['x-amz-version-id'];
  const object = {
    ...{ ...address.name, etag: stored.etag, stored },
    versionId: typeof version === 'string' ? version : undefined,
  };
  return { object, identity };
}

/** @returns undefined if no attempt created the object, or another object has replaced it */
export const completedObject = async (
  services: ObjectServices,
  record: UploadRecord,
): Promise<CompletedObject | undefined> => (await objectAtKey(services, record)).object;

/**
 * Removes the manifest that a failed Complete may have left; it stays if the upload was completed, since some stores
 * accept an abort even then.
 */
export async function removeUnusedManifest(services: ObjectServices, record: UploadRecord): Promise<void> {
  if ((await services.manifests.find(record, record.manifest)) === undefined) return;
  if ((await completedObject(services, record)) === undefined)
    await removeManifest(services, record, record.manifest);
}

/** Reads at a time; each takes as much memory as a caller's. */
const readsAtOnce = 4;

/**
 * Whether the object reads back as the parts of this list, of its own upload. Sizes do not tell, as parts may be of equal
 * size, nor do ETags on every store: so the beginning of each part is read. No two parts begin alike.
 * @throws ObjectChanged; S3Error of the store
 */
export async function hasParts(
  services: ObjectServices,
  record: UploadRecord,
  { stored }: CompletedObject,
  list: StoredPartList,
): Promise<boolean> {
  if (stored.storedSize !== storedListSize(list)) return false;
  const ended = new AbortController();
  try {
    if (list.format === 2) await openFirstSegments(services, record, stored, list, ended.signal);
    else await compareNonces(services, stored, list, ended.signal);
    return true;
  } catch (error) {
    if (error instanceof EnvelopeError && error.reason === 'authentication-failed') return false;
    throw error;
  } finally {
    ended.abort();
  }
}

async function compareNonces(
  { upstream }: ObjectServices,
  stored: StoredObject,
  { parts }: PartList,
  signal: AbortSignal,
): Promise<void> {
  const starts = startsOf(parts, ({ size }) => storedSize(size));
  await concurrently(parts, readsAtOnce, async (part: PartEntry) => {
    const start = starts.get(part) as number;
    const range = { start, end: start + nonceBytes - 1 };
    const nonce = await readBody(await fetchStored(upstream, stored, range, signal), nonceBytes);
    if (nonce.toString('base64') !== part.nonce)
      throw new EnvelopeError('authentication-failed', 'the object has another part in this place');
  });
}

async function openFirstSegments(
  { reader, uploadKeys }: ObjectServices,
  record: UploadRecord,
  stored: StoredObject,
  list: SegmentedPartList,
  signal: AbortSignal,
): Promise<void> {
  const starts = startsOf(list.parts, ({ size }) => size);
  const dek = await uploadKeys.dek(record);
  const layout = { list, dek, size: plaintextListSize(list) };
  const filled = list.parts.filter(({ size }) => size > 0);
  try {
    await concurrently(filled, readsAtOnce, async (part) => {
      const start = starts.get(part) as number;
      for await (const _ of reader.plaintext(stored, layout, { start, end: start }, { signal }));
    });
  } finally {
    dek.fill(0);
  }
}

/** Where the parts begin. */
function startsOf<Part>(parts: readonly Part[], sizeOf: (part: Part) => number): Map<Part, number> {
  let end = 0;
  return new Map(
    parts.map((part) => {
      const start = end;
      end += sizeOf(part);
      return [part, start];
    }),
  );
}
