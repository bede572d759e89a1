import { release } from '../../runtime/memory.ts';
import type { ObjectServices } from '../context.ts';
import { overheadBytes } from '../format/cipher.ts';
import { bodyFormat } from '../format/formats.ts';
import { openMd5, openWholeChecksum } from '../format/sealed-checksums.ts';
import type { DataKeys } from '../keys/data-keys.ts';
import { md5Metadata } from '../s3/headers.ts';
import { wholeChecksumHeaders } from '../s3/object-checksum.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';
import { cut, singleKey } from './body/sealed-body.ts';
import type { Hold, VerifyBudget } from './body/verify-budget.ts';
import { openCovering } from './segmented-reads.ts';
import {
  asksForDigests,
  type ByteRange,
  type KeptDigests,
  type ObjectLayout,
  type ReadOptions,
  type SmallObject,
  type StoredObject,
} from './stored-object.ts';

/** Plaintext bytes up to which a body is decrypted in one step. */
const smallBytes = 64 * 1024;

type SmallReads = Pick<ObjectServices, 'keys' | 'metrics'> & { readonly budget: VerifyBudget };

/** A body that is read into memory and opened in one step. */
interface Arriving {
  readonly response: UpstreamResponse;
  readonly bytes: number;
  /** @throws EnvelopeError */
  readonly open: (stored: Buffer, dek: Buffer) => Buffer;
}

/**
 * Decrypts an object in one piece without streams, together with its digests.
 * @returns undefined for an object in parts, for a larger one, and if memory is short
 */
export function readSmall(
  reads: SmallReads,
  object: StoredObject,
  layout: ObjectLayout,
  response: UpstreamResponse,
  options: ReadOptions,
): Promise<SmallObject> | undefined {
  if (object.envelope?.keys.form !== 'single' || layout.size > smallBytes) return undefined;
  const { format, derivation } = object.envelope;
  const open = (stored: Buffer, dek: Buffer) => bodyFormat(format).openWhole(stored, dek, derivation);
  return readAtOnce(reads, object, layout, { response, bytes: object.storedSize, open }, options);
}

/**
 * Decrypts a range of an object in format 2 from exactly the segments that cover it.
 * @returns undefined if memory is short
 */
export function readCovered(
  reads: SmallReads,
  object: StoredObject,
  layout: ObjectLayout,
  range: ByteRange,
  response: UpstreamResponse,
  options: ReadOptions,
): Promise<SmallObject> | undefined {
  const bytes = Number(response.headers['content-length']);
  const open = (stored: Buffer, dek: Buffer) => openCovering(object, layout, range, stored, dek);
  return readAtOnce(reads, object, layout, { response, bytes, open }, options);
}

function readAtOnce(
  reads: SmallReads,
  object: StoredObject,
  layout: ObjectLayout,
  arriving: Arriving,
  options: ReadOptions,
): Promise<SmallObject> | undefined {
  const hold = reads.budget.take(2 * arriving.bytes, options.evict);
  return hold && readHeld(reads, object, layout, arriving, hold, options);
}

/** The key is requested while the body arrives, and may be refused earlier. */
async function readHeld(
  { keys, metrics }: SmallReads,
  object: StoredObject,
  layout: ObjectLayout,
  { response, bytes, open }: Arriving,
  hold: Hold,
  { signal, checksum }: ReadOptions,
): Promise<SmallObject> {
  const unwrapped = singleKey(keys, object, signal)();
  unwrapped.catch(() => undefined);
  try {
    const stored = sealOf(object) ?? (await response.body.exact(bytes));
    if (stored === undefined) throw cut();
    const dek = await unwrapped;
    const digests = asksForDigests(object, checksum === true) ? openDigests(object, layout, dek) : {};
    const plaintext = open(stored, dek);
    release(stored);
    metrics.bytes('decrypted', plaintext.length);
    const done = () => {
      hold.releaseAll();
      release(plaintext);
    };
    return { plaintext, digests, done };
  } catch (error) {
    hold.releaseAll();
    throw error;
  } finally {
    unwrapped.then((dek) => dek.fill(0)).catch(() => undefined);
    response.body.close();
  }
}

/** The seal that replaces the body of an empty object, from its metadata, in a buffer of its own. */
export const sealOf = ({ envelope }: StoredObject): Buffer | undefined =>
  envelope?.emptySeal === undefined ? undefined : Buffer.alloc(overheadBytes, envelope.emptySeal, 'base64');

/** Digests opened with the part list, or under the DEK. @throws EnvelopeError `record-forged` */
export async function keptDigests(
  keys: DataKeys,
  object: StoredObject,
  layout: ObjectLayout,
  signal: AbortSignal,
): Promise<KeptDigests> {
  if (layout.list !== undefined) return layout.list;
  if (!asksForDigests(object, true)) return {};
  const dek = await singleKey(keys, object, signal)();
  try {
    return openDigests(object, layout, dek);
  } finally {
    dek.fill(0);
  }
}

/** For an object in one piece. */
function openDigests({ envelope }: StoredObject, { size }: ObjectLayout, dek: Buffer): KeptDigests {
  const sealed = envelope?.checksum?.sealed;
  return {
    checksum: sealed === undefined ? undefined : openWholeChecksum(dek, String(size), sealed, 1),
    md5: envelope?.md5 === undefined ? undefined : openMd5(dek, envelope.md5),
  };
}

/** Digests as response headers. */
export const digestHeaders = (
  { checksum, md5 }: KeptDigests,
  wanted: { readonly checksum: boolean },
): Record<string, string> => ({
  ...(checksum !== undefined && wanted.checksum && wholeChecksumHeaders(checksum)),
  ...(md5 !== undefined && { [md5Metadata]: md5 }),
});
