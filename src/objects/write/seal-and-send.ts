import { crc32 } from 'node:zlib';
import { release } from '../../runtime/memory.ts';
import type { ObjectServices } from '../context.ts';
import type { BodyFormat, BodyProof, BodySealer } from '../format/body-format.ts';
import type { Derivation } from '../format/body-keys.ts';
import { bodyFormat } from '../format/formats.ts';
import { hasAside, type KeyPurpose, type ObjectName } from '../format/metadata.ts';
import { type EnvelopeChecksum, sealWholeChecksum } from '../format/sealed-checksums.ts';
import { memoryCosts } from '../held-memory.ts';
import type { FreshKey } from '../keys/data-keys.ts';
import { type Checksums, toldChecksum } from '../s3/checksum.ts';
import { s3Error } from '../s3/error.ts';
import { checksumTrailer, sendAll } from '../upstream/streamed-upload.ts';
import type { UpstreamRequest, UpstreamResponse, UpstreamUpload } from '../upstream/upstream.ts';
import { CiphertextSpool, smallBytes } from './ciphertext-spool.ts';

/**
 * Chooses how to encrypt and send a body: a small one is read while its key is being wrapped, one of unknown length is
 * spooled to disk.
 * @throws S3Error and errors of `source`, also from the returned function; the store then keeps nothing
 */
export function strategyFor(context: WriteContext, plan: EncryptionPlan): (key: FreshKey) => Promise<Sealed> {
  const { length } = plan;
  if (length === undefined) return (key) => sendSpooled(context, plan, key);
  if (length > smallBytes) return (key) => sendStreamed(context, plan, length, key);
  const plaintext = plan.short?.(length) ?? collect(plan.source, length);
  plaintext.catch(() => undefined);
  return async (key) => sendWhole(context, plan, await plaintext, key);
}

export const formatOf = ({ purpose }: EncryptionPlan): BodyFormat => bodyFormat(purpose.format);

/**
 * Encrypts a body of unknown length to disk, because the store requires the length first, and sends it from there. Only
 * ciphertext touches the disk.
 */
async function sendSpooled(context: WriteContext, plan: EncryptionPlan, key: FreshKey): Promise<Sealed> {
  plan.request(key, {});
  const held = context.memory.hold('spools', plan.signal);
  await held.take(memoryCosts.spool);
  const spool = new CiphertextSpool(context.config.spoolDir, context.spoolSpace);
  const sealer = sealerFor(plan, key, undefined);
  try {
    const size = await fill(spool, sealer, plan);
    if (size === 0) return await sendWhole(context, plan, Buffer.alloc(0), key);
    const proof = sealer.proof(size);
    const target = plan.request(key, besides(plan, key, size, proof, plan.checksums?.()));
    const whole = spool.inMemory();
    const response = whole
      ? await sendSealed(context, target, whole)
      : await sendFile(await context.upstream.upload(target, spool.length), spool);
    return { response, proof, size };
  } finally {
    sealer.discard();
    spool.close();
    held.release();
  }
}

async function fill(spool: CiphertextSpool, sealer: BodySealer, plan: EncryptionPlan): Promise<number> {
  const { maxPlaintext } = formatOf(plan);
  let size = 0;
  await spool.append(sealer.head);
  for await (const chunk of plan.source) {
    size += chunk.length;
    if (size > maxPlaintext) throw s3Error('EntityTooLarge');
    for (const piece of sealer.pieces(chunk)) {
      await spool.append(piece);
      release(piece);
    }
  }
  await spool.append(sealer.finish());
  return size;
}

function sendFile(upload: UpstreamUpload, spool: CiphertextSpool): Promise<UpstreamResponse> {
  return sendAll(upload, async () => {
    for await (const piece of spool.read()) await upload.write(piece);
    return upload.finish(new Uint8Array(0));
  });
}

/** Encrypts while the source is read. The end is sent only after the source has ended without error. */
async function sendStreamed(
  { upstream }: WriteContext,
  plan: EncryptionPlan,
  length: number,
  key: FreshKey,
): Promise<Sealed> {
  const sealer = sealerFor(plan, key, length);
  try {
    const proof = sealer.proof(length);
    const target = plan.request(key, besides(plan, key, length, proof, plan.announced));
    const upload = await upstream.upload(target, formatOf(plan).storedSize(length));
    const response = await sendAll(upload, () => sendBody(upload, sealer, plan.source, length));
    return { response, proof, size: length };
  } finally {
    sealer.discard();
  }
}

async function sendBody(
  upload: UpstreamUpload,
  sealer: BodySealer,
  source: AsyncIterable<Buffer>,
  length: number,
): Promise<UpstreamResponse> {
  let size = 0;
  await upload.write(sealer.head);
  for await (const chunk of source) {
    size += chunk.length;
    if (size > length) throw s3Error('IncompleteBody');
    for (const piece of sealer.pieces(chunk)) {
      await upload.write(piece);
      release(piece);
    }
  }
  if (size !== length) throw s3Error('IncompleteBody');
  return upload.finish(sealer.finish());
}

/** @throws S3Error IncompleteBody if the source does not have exactly `length` bytes */
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

/** Sends a body from memory. Its SHA-256 is signed, so a part of it cannot be stored. */
async function sendWhole(
  context: WriteContext,
  plan: EncryptionPlan,
  plaintext: Buffer,
  key: FreshKey,
): Promise<Sealed> {
  const { name, request } = plan;
  const size = plaintext.length;
  const { body, proof } = sealWhole(plan, plaintext, key);
  release(plaintext);
  const added = besides(plan, key, size, proof, plan.checksums?.());
  const aside = plan.purpose.kind === 'object' && hasAside(formatOf(plan), name.key, size);
  const response = aside
    ? await sendSealed(
        context,
        request(key, { ...added, emptySeal: body.toString('base64') }),
        Buffer.alloc(0),
      )
    : await sendSealed(context, request(key, added), body);
  return { response, proof, size };
}

function sealWhole(
  plan: EncryptionPlan,
  plaintext: Buffer,
  key: FreshKey,
): { body: Buffer; proof: BodyProof } {
  const sealer = sealerFor(plan, key, plaintext.length);
  try {
    const body = Buffer.allocUnsafeSlow(formatOf(plan).storedSize(plaintext.length));
    let at = sealer.head.copy(body);
    for (const piece of sealer.pieces(plaintext)) {
      at += piece.copy(body, at);
      release(piece);
    }
    sealer.finish().copy(body, at);
    return { body, proof: sealer.proof(plaintext.length) };
  } finally {
    sealer.discard();
  }
}

/** Envelope fields for the object's metadata, which are sent before the body. */
function besides(
  plan: EncryptionPlan,
  { key }: FreshKey,
  size: number,
  proof: BodyProof,
  checksums: Checksums = new Map(),
): Besides {
  if (plan.purpose.kind !== 'object') return {};
  const kept = formatOf(plan).kept(proof);
  const [first] = checksums;
  if (first === undefined) return kept;
  const [algorithm, digest] = first;
  const kind = { algorithm, type: 'FULL_OBJECT' } as const;
  const sealed = sealWholeChecksum(key, String(size), toldChecksum(kind, digest, 1));
  return { ...kept, checksum: { ...kind, sealed } };
}

/** @param body as it will be stored */
function sealedRequest({ config }: Pick<WriteContext, 'config'>, request: UpstreamRequest, body: Buffer) {
  if (config.upstreamChecksum === 'none') return request;
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return { ...request, headers: { ...request.headers, [checksumTrailer]: checksum.toString('base64') } };
}

const sendSealed = (context: WriteContext, request: UpstreamRequest, body: Buffer) =>
  context.upstream.send(sealedRequest(context, request, body), body);

/** A plaintext, and the destination of its ciphertext. */
export interface EncryptionPlan {
  readonly name: ObjectName;
  /** Its `format` is the body's. */
  readonly purpose: KeyPurpose;
  /** For a part in format 2: its number, and the DEK of its upload with the wrapped form. */
  readonly ofUpload?: { readonly number: number; key(): Promise<FreshKey> } | undefined;
  /**
   * Ends without error only if the plaintext is complete and verified. A chunk is valid until the next is requested.
   */
  readonly source: AsyncIterable<Buffer>;
  /** Reads the plaintext in one piece, if there is a faster way than `source`; used in its place. */
  readonly short?: (limit: number) => Promise<Buffer> | undefined;
  /** Plaintext bytes; undefined when only the end of `source` will tell. */
  readonly length: number | undefined;
  /** Plaintext checksums to keep beside the key; called once `source` has ended. */
  readonly checksums?: () => Checksums;
  /** Checksums known in advance; `source` ends without error only if they match. */
  readonly announced?: Checksums;
  /**
   * Builds the request that carries the ciphertext, or its seal in the metadata; its errors come before any data is
   * sent.
   */
  readonly request: (key: FreshKey, added: Besides) => UpstreamRequest;
  readonly signal?: AbortSignal | undefined;
}

/** Envelope fields besides the wrapped DEK. */
export interface Besides {
  readonly emptySeal?: string;
  readonly derivation?: Derivation;
  readonly checksum?: EnvelopeChecksum;
}

/** The store's response to a body it accepted. */
export interface Sealed {
  readonly proof: BodyProof;
  /** Plaintext bytes. */
  readonly size: number;
  readonly response: UpstreamResponse;
}

export type WriteContext = Pick<
  ObjectServices,
  'config' | 'keys' | 'partKeys' | 'upstream' | 'metrics' | 'memory' | 'spoolSpace'
>;

const sealerFor = (plan: EncryptionPlan, { key }: FreshKey, size: number | undefined): BodySealer =>
  formatOf(plan).sealer(key, plan.ofUpload?.number ?? 0, size);
