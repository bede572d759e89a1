import { crc32 } from 'node:zlib';
import {
  type Encryption,
  encryptBody,
  maxPlaintextBytes,
  storedSize,
} from '../../../core/envelope/cipher.ts';
import { hasNoBody, type KeyPurpose, type ObjectName } from '../../../core/envelope/metadata.ts';
import { sealChecksums } from '../../../core/envelope/sealed-checksums.ts';
import { type EnvelopeChecksum, sealWholeChecksum } from '../../../core/envelope/whole-checksum.ts';
import type { Checksums } from '../../../core/s3/checksum.ts';
import { s3Error } from '../../../core/s3/error.ts';
import { responseHeadersDownstream, unquote } from '../../../core/s3/headers.ts';
import { toldChecksum } from '../../../core/s3/object-checksum.ts';
import { release } from '../../../runtime/memory.ts';
import type { ProxyServices } from '../context.ts';
import { type BoundKey, createKey, type FreshKey } from '../data-keys.ts';
import { checksumTrailer } from '../upstream/streamed-upload.ts';
import {
  AnsweredEarly,
  refusal,
  type UpstreamRequest,
  type UpstreamResponse,
  type UpstreamUpload,
} from '../upstream/upstream.ts';
import { CiphertextSpool, smallBytes } from './ciphertext-spool.ts';

/** A body that the store holds as `nonce || ciphertext || tag`. */
export interface StoredBody extends Omit<Sealed, 'response'>, Acceptance {
  /** The wrapped DEK. */
  readonly dek: string;
  /** As `sealChecksums` writes them, where there are any. */
  readonly sealed?: string;
}

/**
 * Encrypts a plaintext under a fresh DEK and stores it. The DEK is wrapped
 * before the store gets the request, and wiped when this settles.
 * @throws S3Error EntityTooLarge before anything is sent; the store's refusal; what `source` throws,
 *   after which the store has kept nothing.
 */
export async function encryptToStore(context: WriteContext, plan: EncryptionPlan): Promise<StoredBody> {
  if (plan.length !== undefined && plan.length > maxPlaintextBytes) throw s3Error('EntityTooLarge');
  const send = strategyFor(context, plan);
  return withFreshKey(context, plan, async (key) => {
    const { response, nonce, size } = await send(key);
    const acceptance = await accepted(response);
    context.metrics.bytes('encrypted', size);
    const checksums = plan.purpose.kind === 'part' ? plan.checksums?.() : undefined;
    const sealed = checksums?.size ? sealChecksums(key.key, { nonce, size }, checksums) : undefined;
    return { ...acceptance, nonce, size, dek: key.ciphertext, ...(sealed !== undefined && { sealed }) };
  });
}

/** Small bodies are read while their key is being wrapped. */
function strategyFor(context: WriteContext, plan: EncryptionPlan): (key: FreshKey) => Promise<Sealed> {
  const { length } = plan;
  if (length === undefined) return (key) => sendSpooled(context, plan, key);
  if (length > smallBytes) return (key) => sendStreamed(context, plan, length, key);
  const plaintext = plan.short?.(length) ?? collect(plan.source, length);
  plaintext.catch(() => undefined);
  return async (key) => sendWhole(context, plan, await plaintext, key);
}

async function withFreshKey<T>(
  context: WriteContext,
  plan: EncryptionPlan,
  use: (key: FreshKey) => Promise<T>,
): Promise<T> {
  const fresh = await freshKey(context, plan);
  try {
    return await use(fresh);
  } finally {
    fresh.key.fill(0);
  }
}

const freshKey = (
  { keys, partKeys }: WriteContext,
  { name, purpose, signal }: EncryptionPlan,
): Promise<FreshKey> =>
  purpose.kind === 'part' ? partKeys.take(name, purpose, signal) : createKey(keys, name, purpose, signal);

interface Acceptance {
  readonly status: number;
  readonly headers: UpstreamResponse['headers'];
  /** The store's, unquoted. */
  readonly etag: string;
}

/**
 * What the store found wrong with the body as it arrived there. The caller's
 * body was right, so to the caller this is a failure on the way, worth a retry.
 */
const damagedOnTheWay = new Set([
  'BadDigest',
  'IncompleteBody',
  'InvalidDigest',
  'MalformedTrailerError',
  'RequestTimeout',
  'XAmzContentChecksumMismatch',
  'XAmzContentSHA256Mismatch',
]);

/** @throws S3Error as the store refuses the write */
async function accepted(response: UpstreamResponse): Promise<Acceptance> {
  const { status, headers, body } = response;
  if (status !== 200) {
    const refused = await refusal(response);
    if (!damagedOnTheWay.has(refused.code)) throw refused;
    throw s3Error('ServiceUnavailable', 'The body did not reach the object store whole. Please retry.', {
      cause: refused,
    });
  }
  body.resume();
  if (headers.etag === undefined) throw s3Error('InternalError', 'The object store named no ETag.');
  return { status, headers, etag: unquote(headers.etag) };
}

/**
 * Encrypts a body of unknown length to disk, because the store wants its length
 * first, and sends it from there. Only ciphertext touches the disk.
 */
async function sendSpooled(context: WriteContext, plan: EncryptionPlan, key: FreshKey): Promise<Sealed> {
  plan.request(key, {});
  const spool = new CiphertextSpool(context.config.spoolDir, context.spoolSpace);
  const cipher = encryptBody(key.key);
  try {
    const size = await fill(spool, cipher, plan.source);
    if (size === 0) return await sendWhole(context, plan, Buffer.alloc(0), key);
    const target = plan.request(key, besides(plan, key, size, plan.checksums?.()));
    const whole = spool.inMemory();
    const response = whole
      ? await sendSealed(context, target, whole)
      : await sendFile(await context.upstream.upload(target, spool.length), spool);
    return { response, nonce: cipher.nonce.toString('base64'), size };
  } finally {
    cipher.discard();
    spool.close();
  }
}

async function fill(
  spool: CiphertextSpool,
  cipher: Encryption,
  source: AsyncIterable<Buffer>,
): Promise<number> {
  let size = 0;
  await spool.append(cipher.nonce);
  for await (const chunk of source) {
    size += chunk.length;
    if (size > maxPlaintextBytes) throw s3Error('EntityTooLarge');
    for (const piece of ciphertextOf(cipher, chunk)) await spool.append(piece);
  }
  await spool.append(cipher.finish());
  return size;
}

function sendFile(upload: UpstreamUpload, spool: CiphertextSpool): Promise<UpstreamResponse> {
  return sendAll(upload, async () => {
    for await (const piece of spool.read()) await upload.write(piece);
    return upload.finish(new Uint8Array(0));
  });
}

/** Encrypts while the source is read. The end goes out once the source has ended and was found right. */
async function sendStreamed(
  { upstream }: WriteContext,
  plan: EncryptionPlan,
  length: number,
  key: FreshKey,
): Promise<Sealed> {
  const target = plan.request(key, besides(plan, key, length, plan.announced));
  const upload = await upstream.upload(target, storedSize(length));
  const cipher = encryptBody(key.key);
  try {
    const response = await sendAll(upload, () => sendBody(upload, cipher, plan.source, length));
    return { response, nonce: cipher.nonce.toString('base64'), size: length };
  } finally {
    cipher.discard();
  }
}

/** Runs `send`; whatever goes wrong leaves nothing in the store. A refusal that came early is the answer. */
async function sendAll(
  upload: UpstreamUpload,
  send: () => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof AnsweredEarly) return upload.answer();
    upload.abort();
    throw error;
  }
}

async function sendBody(
  upload: UpstreamUpload,
  cipher: Encryption,
  source: AsyncIterable<Buffer>,
  length: number,
): Promise<UpstreamResponse> {
  let size = 0;
  await upload.write(cipher.nonce);
  for await (const chunk of source) {
    size += chunk.length;
    if (size > length) throw s3Error('IncompleteBody');
    for (const piece of ciphertextOf(cipher, chunk)) await upload.write(piece);
  }
  if (size !== length) throw s3Error('IncompleteBody');
  return upload.finish(cipher.finish());
}

/** Each `update` allocates what it returns: large chunks are encrypted piece by piece. */
const pieceBytes = 64 * 1024;

/** The ciphertext of a chunk, in pieces that are good until the next is asked for. */
function* ciphertextOf(cipher: Encryption, plaintext: Buffer): Generator<Buffer> {
  for (let start = 0; start < plaintext.length; start += pieceBytes) {
    const piece = cipher.update(plaintext.subarray(start, start + pieceBytes));
    yield piece;
    release(piece);
  }
}

/** @throws S3Error IncompleteBody when the source does not have `length` bytes */
async function collect(source: AsyncIterable<Buffer>, length: number): Promise<Buffer> {
  const plaintext = Buffer.allocUnsafeSlow(length);
  let size = 0;
  for await (const chunk of source) {
    if (size + chunk.length > length) throw s3Error('IncompleteBody');
    plaintext.set(chunk, size);
    size += chunk.length;
  }
  if (size !== length) throw s3Error('IncompleteBody');
  return plaintext;
}

/** Sends a body that is held in memory. Its SHA-256 is signed, so it cannot be stored in part. */
async function sendWhole(
  context: WriteContext,
  plan: EncryptionPlan,
  plaintext: Buffer,
  key: FreshKey,
): Promise<Sealed> {
  const { name, purpose, request } = plan;
  const size = plaintext.length;
  const { body, nonce } = sealWhole(plaintext, key.key);
  release(plaintext);
  const added = besides(plan, key, size, plan.checksums?.());
  const aside = purpose.kind === 'object' && hasNoBody(name.key, size);
  const response = aside
    ? await sendSealed(
        context,
        request(key, { ...added, emptySeal: body.toString('base64') }),
        Buffer.alloc(0),
      )
    : await sendSealed(context, request(key, added), body);
  return { response, nonce, size };
}

function sealWhole(plaintext: Buffer, dek: Buffer): { readonly body: Buffer; readonly nonce: string } {
  const cipher = encryptBody(dek);
  const body = Buffer.allocUnsafeSlow(storedSize(plaintext.length));
  const ciphertext = cipher.update(plaintext);
  body.set(cipher.nonce);
  body.set(ciphertext, cipher.nonce.length);
  release(ciphertext);
  body.set(cipher.finish(), cipher.nonce.length + plaintext.length);
  return { body, nonce: cipher.nonce.toString('base64') };
}

/** An object has its checksum in its metadata, which leave before its body. */
function besides(
  { purpose }: EncryptionPlan,
  { key }: FreshKey,
  size: number,
  checksums: Checksums = new Map(),
): Besides {
  const [first] = checksums;
  if (purpose.kind !== 'object' || first === undefined) return {};
  const [algorithm, digest] = first;
  const kind = { algorithm, type: 'FULL_OBJECT' } as const;
  return {
    checksum: { ...kind, sealed: sealWholeChecksum(key, String(size), toldChecksum(kind, digest, 1)) },
  };
}

/** @param body nonce, ciphertext and tag */
export function sealedRequest(
  { config }: Pick<WriteContext, 'config'>,
  request: UpstreamRequest,
  body: Buffer,
) {
  if (config.upstreamChecksum === 'none') return request;
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return { ...request, headers: { ...request.headers, [checksumTrailer]: checksum.toString('base64') } };
}

const sendSealed = (context: WriteContext, request: UpstreamRequest, body: Buffer) =>
  context.upstream.send(sealedRequest(context, request, body), body);

/** A plaintext and where its ciphertext goes. */
export interface EncryptionPlan {
  readonly name: ObjectName;
  readonly purpose: KeyPurpose;
  /** Ends without error only when the plaintext is whole and right. Chunks are valid until the next is asked for. */
  readonly source: AsyncIterable<Buffer>;
  /** The same in one piece, where there is a shorter way to it; asked for in place of `source`. */
  readonly short?: (limit: number) => Promise<Buffer> | undefined;
  /** Plaintext bytes; undefined when only the end of `source` will tell. */
  readonly length: number | undefined;
  /** Of the plaintext, to be kept beside its key; asked for once `source` has ended. */
  readonly checksums?: () => Checksums;
  /** Those of them that are known before; `source` ends only if they are right. */
  readonly announced?: Checksums;
  /** The request that carries the ciphertext, or its seal in the metadata; what it throws comes before any data is sent. */
  readonly request: (key: BoundKey, added: Besides) => UpstreamRequest;
  readonly signal?: AbortSignal | undefined;
}

/** What an envelope has besides the wrapped DEK. */
export interface Besides {
  readonly emptySeal?: string;
  readonly checksum?: EnvelopeChecksum;
}

/** What the store said to a body that it has taken. */
interface Sealed {
  /** Base64 of 12 bytes. */
  readonly nonce: string;
  /** Plaintext bytes. */
  readonly size: number;
  readonly response: UpstreamResponse;
}

export type WriteContext = Pick<
  ProxyServices,
  'config' | 'keys' | 'partKeys' | 'upstream' | 'metrics' | 'spoolSpace'
>;

const objectSize = 'x-amz-object-size';

/** The store's answer to a write as the caller gets it: ETag outward, sizes of plaintext. */
export function writeAnswer({ headers, size }: Pick<StoredBody, 'headers' | 'size'>): Record<string, string> {
  const answer = responseHeadersDownstream(headers);
  if (answer[objectSize] !== undefined) answer[objectSize] = String(size);
  return answer;
}
