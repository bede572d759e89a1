import { EnvelopeError, nonceBytes } from '../../../core/envelope/cipher.ts';
import {
  type PartEntry,
  type PartList,
  plaintextListSize,
  type SegmentedPartList,
  type StoredPartList,
  storedBodySize,
  storedListSize,
} from '../../../core/envelope/manifest.ts';
import { type ObjectName, readEnvelope } from '../../../core/envelope/metadata.ts';
import type { WholeChecksum } from '../../../core/s3/checksum.ts';
import { concurrently } from '../../../runtime/lifecycle/wait.ts';
import type { ProxyServices } from '../context.ts';
import { fetchStored, type StoredObject } from '../read/stored-object.ts';
import { readBody, refusal } from '../upstream/upstream.ts';
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

/** @returns undefined if no attempt created the object, or another object has replaced it */
export async function completedObject(
  { upstream, reader }: ProxyServices,
  { bucket, key, manifest }: UploadRecord,
): Promise<CompletedObject | undefined> {
  const name = { bucket, key };
  const response = await upstream.send({ method: 'HEAD', ...name });
  response.body.resume();
  if (response.status === 404) return undefined;
  if (response.status !== 200) throw await refusal(response);
  const keys = readEnvelope(response.headers)?.keys;
  const id =
    keys?.form === 'pointer' ? keys.manifest : keys?.form === 'inline' ? keys.list.manifest : undefined;
  if (id !== manifest) return undefined;
  const stored = reader.describe({ name, versionId: undefined, access: {} }, response.headers);
  const versionId = response.headers['x-amz-version-id'];
  return {
    ...{ ...name, etag: stored.etag, stored },
    versionId: typeof versionId === 'string' ? versionId : undefined,
  };
}

/** Reads at a time; each takes as much memory as a caller's. */
const readsAtOnce = 4;

/**
 * Whether the object reads back as the parts of this list, of its own upload. Sizes do not tell, as parts may be of equal
 * size, nor do ETags on every store: so the beginning of each part is read. No two parts begin alike.
 * @throws ObjectChanged; S3Error of the store
 */
export async function hasParts(
  services: ProxyServices,
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
  { upstream }: ProxyServices,
  stored: StoredObject,
  { parts }: PartList,
  signal: AbortSignal,
): Promise<void> {
  const starts = startsOf(parts, ({ size }) => storedBodySize(1, size));
  await concurrently(parts, readsAtOnce, async (part: PartEntry) => {
    const start = starts.get(part) as number;
    const range = { start, end: start + nonceBytes - 1 };
    const nonce = await readBody(await fetchStored(upstream, stored, range, signal), nonceBytes);
    if (nonce.toString('base64') !== part.nonce)
      throw new EnvelopeError('authentication-failed', 'the object has another part in this place');
  });
}

async function openFirstSegments(
  { reader, uploadKeys }: ProxyServices,
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
