import type { ObjectName } from '../../../objects/format/metadata.ts';
import { s3Error } from '../../../objects/s3/error.ts';
import { unquote } from '../../../objects/s3/headers.ts';
import { type CompletedPart, completeMultipartXml } from '../../../objects/s3/request-documents.ts';
import type { DocumentShape } from '../../../objects/s3/xml-document.ts';
import { listingPage } from '../../../objects/state/listings.ts';
import { checksumTrailer, sendAll } from '../../../objects/upstream/streamed-upload.ts';
import {
  AnsweredEarly,
  refusal,
  type Upstream,
  type UpstreamResponse,
  type UpstreamUpload,
  xmlResult,
} from '../../../objects/upstream/upstream.ts';
import { keyDecoder, pageLimit } from '../engine/list-objects.ts';

export interface Plaintext {
  readonly name: ObjectName;
  /** Metadata and content headers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly size: number;
  /** Ends without error only if the whole plaintext is authentic. */
  readonly chunks: AsyncIterable<Buffer>;
}

interface Sending {
  readonly upstream: Upstream;
  /** Whether parts carry a checksum; S3 accepts one only if the upload was created with that algorithm. */
  readonly checksums: boolean;
  readonly signal: AbortSignal;
}

const MiB = 1024 ** 2;
/** Larger objects are uploaded in parts of this size, or larger ones if 10,000 parts would not suffice. */
export const partBytes = 64 * MiB;
const maxParts = 10_000;
const answerLimit = 64 * 1024;
const createdUpload: DocumentShape = { root: 'InitiateMultipartUploadResult', fields: ['UploadId'] };
const completedUpload: DocumentShape = { root: 'CompleteMultipartUploadResult', fields: [] };

/**
 * Writes an object while its plaintext arrives. Until the last byte is authenticated, the store gets neither the end of
 * a body nor the Complete, so the name keeps its previous content or stays empty.
 * @throws S3Error of the store; errors of `chunks`, after which the store keeps nothing
 */
export async function sendPlaintext(sending: Sending, plaintext: Plaintext): Promise<void> {
  const { name, headers, size, chunks } = plaintext;
  if (size > partBytes) return sendParts(sending, plaintext);
  const { upstream, signal } = sending;
  const request = { method: 'PUT', ...name, headers, signal };
  let response: UpstreamResponse;
  if (size === 0) {
    for await (const chunk of chunks) if (chunk.length > 0) throw s3Error('IncompleteBody');
    response = await upstream.send(request);
  } else {
    const upload = await upstream.upload(request, size);
    response = await sendAll(upload, async () => {
      for await (const chunk of chunks) await upload.write(chunk);
      return upload.finish(nothing);
    });
  }
  await accepted(response);
}

const nothing = new Uint8Array(0);

async function accepted(response: UpstreamResponse): Promise<UpstreamResponse> {
  if (response.status !== 200) throw await refusal(response);
  response.body.resume();
  return response;
}

async function sendParts(sending: Sending, plaintext: Plaintext): Promise<void> {
  const { name } = plaintext;
  await abortEarlier(sending, name);
  const uploadId = await createUpload(sending, plaintext);
  try {
    sending.signal.throwIfAborted();
    const parts = await uploadParts(sending, plaintext, uploadId);
    await completeUpload(sending, name, uploadId, parts);
  } catch (error) {
    await abortUpload(sending.upstream, name, uploadId);
    throw error;
  }
}

/** Takes no signal: an interrupted request could leave an upload without a known id, which cannot be aborted. */
async function createUpload({ upstream, checksums }: Sending, { name, headers }: Plaintext): Promise<string> {
  const response = await upstream.send({
    method: 'POST',
    ...name,
    query: [['uploads', '']],
    headers: { ...headers, ...(checksums && { 'x-amz-checksum-algorithm': 'CRC32' }) },
  });
  const created = await xmlResult(response, createdUpload, answerLimit);
  const uploadId = created.top.get('UploadId');
  if (uploadId === undefined) throw s3Error('InternalError', 'The object store named no upload.');
  return uploadId;
}

async function uploadParts(
  sending: Sending,
  { name, size, chunks }: Plaintext,
  uploadId: string,
): Promise<readonly CompletedPart[]> {
  const parts = new PartWriter(sending, name, uploadId, size);
  try {
    for await (const chunk of chunks) await parts.write(chunk);
    return await parts.finish();
  } catch (error) {
    throw await parts.abort(error);
  }
}

/**
 * Cuts a plaintext into parts. A part is finished once the next part's first byte has arrived; the last one once the
 * whole plaintext is authentic.
 */
class PartWriter {
  readonly #sending: Sending;
  readonly #name: ObjectName;
  readonly #uploadId: string;
  readonly #most: number;
  readonly #parts: CompletedPart[] = [];
  #left: number;
  #room = 0;
  #current: UpstreamUpload | undefined;

  constructor(sending: Sending, name: ObjectName, uploadId: string, size: number) {
    this.#sending = sending;
    this.#name = name;
    this.#uploadId = uploadId;
    this.#left = size;
    this.#most = Math.max(partBytes, Math.ceil(size / maxParts / MiB) * MiB);
  }

  async write(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      const upload = this.#room > 0 && this.#current ? this.#current : await this.#next();
      const piece = chunk.subarray(at, at + this.#room);
      await upload.write(piece);
      at += piece.length;
      this.#room -= piece.length;
    }
  }

  /** @throws S3Error IncompleteBody for a plaintext that is shorter than announced */
  async finish(): Promise<readonly CompletedPart[]> {
    await this.#end();
    if (this.#left > 0) throw s3Error('IncompleteBody');
    return this.#parts;
  }

  /** @returns the error to throw: the store's early refusal if there was one, since it gives the reason */
  async abort(error: unknown): Promise<unknown> {
    if (error instanceof AnsweredEarly && this.#current !== undefined)
      return refusal(await this.#current.answer());
    this.#current?.abort();
    return error;
  }

  async #next(): Promise<UpstreamUpload> {
    await this.#end();
    if (this.#left === 0) throw s3Error('IncompleteBody');
    this.#room = Math.min(this.#most, this.#left);
    this.#left -= this.#room;
    const { upstream, signal } = this.#sending;
    const query = [
      ['partNumber', String(this.#parts.length + 1)],
      ['uploadId', this.#uploadId],
    ] as const;
    const request = { method: 'PUT', ...this.#name, query, signal };
    this.#current = await upstream.upload(request, this.#room);
    return this.#current;
  }

  async #end(): Promise<void> {
    if (this.#current === undefined) return;
    const { headers } = await accepted(await this.#current.finish(nothing));
    this.#current = undefined;
    if (headers.etag === undefined) throw s3Error('InternalError', 'The object store named no ETag.');
    const checksum = headers[checksumTrailer];
    this.#parts.push({
      partNumber: this.#parts.length + 1,
      etag: unquote(headers.etag),
      ...(typeof checksum === 'string' && { checksum }),
    });
  }
}

async function completeUpload(
  { upstream, signal }: Sending,
  name: ObjectName,
  uploadId: string,
  parts: readonly CompletedPart[],
): Promise<void> {
  const query = [['uploadId', uploadId]] as const;
  const headers = { 'content-type': 'application/xml' };
  const body = completeMultipartXml(parts);
  const response = await upstream.send({ method: 'POST', ...name, query, headers, signal }, body);
  await xmlResult(response, completedUpload, answerLimit);
}

/** Runs after an interruption too. If the store is unavailable, the next run aborts the upload. */
async function abortUpload(upstream: Upstream, name: ObjectName, uploadId: string): Promise<void> {
  const query = [['uploadId', uploadId]] as const;
  const aborted = upstream.send({ method: 'DELETE', ...name, query });
  await aborted.then(({ body }) => void body.resume()).catch(() => undefined);
}

const uploads: DocumentShape = {
  root: 'ListMultipartUploadsResult',
  entries: ['Upload'],
  fields: ['Key', 'UploadId', 'EncodingType'],
};

/** Aborts uploads of killed runs. Without permission to list uploads, they stay. */
async function abortEarlier({ upstream, signal }: Sending, name: ObjectName): Promise<void> {
  const query = [
    ['uploads', ''],
    ['encoding-type', 'url'],
    ['prefix', name.key],
  ] as const;
  const wanted = { bucket: name.bucket, query, shape: uploads, limit: pageLimit, signal };
  const page = await listingPage(upstream, wanted).catch(() => undefined);
  signal.throwIfAborted();
  if (page === undefined) return;
  const decoded = keyDecoder(page);
  for (const entry of page.entries)
    if (decoded(entry.get('Key') ?? '') === name.key)
      await abortUpload(upstream, name, entry.get('UploadId')?.trim() ?? '');
}
