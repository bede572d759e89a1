import { Readable } from 'node:stream';
import type { ObjectServices } from '../../../objects/context.ts';
import { partChecksum } from '../../../objects/format/sealed-checksums.ts';
import { createUpload } from '../../../objects/multipart/create-upload.ts';
import { abortUpload, completeUpload } from '../../../objects/multipart/end-upload.ts';
import { uploadPart } from '../../../objects/multipart/upload-part.ts';
import type { KeptDigests, ObjectLayout, StoredObject } from '../../../objects/read/stored-object.ts';
import type { WholeChecksum } from '../../../objects/s3/checksum.ts';
import { s3Error } from '../../../objects/s3/error.ts';
import { inward, md5Metadata, unquote } from '../../../objects/s3/headers.ts';
import { checksumElement, maxPartNumber } from '../../../objects/s3/request-documents.ts';
import { scanDocument } from '../../../objects/s3/xml-document.ts';
import { element } from '../../../objects/s3/xml-text.ts';
import { putObject } from '../../../objects/write/put-object.ts';
import type { Budget } from '../../../runtime/bounds/budget.ts';
import { unlessAborted } from '../../../runtime/lifecycle/wait.ts';
import { callHandler } from './local-request.ts';

/** A plaintext that replaces the object it was read from. */
export interface Replacement {
  readonly object: StoredObject;
  readonly layout: ObjectLayout;
  readonly digests: KeptDigests;
  /** The plaintext in order; ends without error only if the whole plaintext was authentic. */
  readonly plaintext: AsyncIterable<Buffer>;
  /** Metadata and other properties of the object besides its body. */
  readonly headers: Readonly<Record<string, string>>;
  /** False if the store ignores conditions on writes. */
  readonly conditional: boolean;
  readonly partSize: number;
  /** Bounds objects that are written in one piece. */
  readonly memory: Budget;
}

export interface Written {
  /** The store's ETag, unquoted. */
  readonly etag: string;
}

/**
 * Writes the replacement as the proxy would, in one piece or in parts, provided that the stored object is still the one
 * that was read.
 * @throws S3Error PreconditionFailed, ConditionalRequestConflict or NoSuchKey if it is not; errors of the handlers
 */
export async function writeEncrypted(
  services: ObjectServices,
  replacement: Replacement,
  signal: AbortSignal,
): Promise<Written> {
  const planned = plannedParts(replacement.layout, replacement.partSize);
  return planned === undefined
    ? writeWhole(services, replacement, signal)
    : writeParts(services, replacement, planned, signal);
}

interface PlannedPart {
  readonly number: number;
  /** Plaintext bytes. */
  readonly size: number;
}

const MiB = 1024 ** 2;

/**
 * Keeps the parts of an encrypted object, and with them part numbers and composite checksums. @returns undefined for an
 * object in one piece
 */
export function plannedParts(
  { size, list }: ObjectLayout,
  partSize: number,
): readonly PlannedPart[] | undefined {
  if (list !== undefined) return list.parts.map((part) => ({ number: part.n, size: part.size }));
  if (size <= partSize) return undefined;
  const each = Math.max(partSize, Math.ceil(size / maxPartNumber / MiB) * MiB);
  const count = Math.ceil(size / each);
  return Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    size: Math.min(each, size - index * each),
  }));
}

/** A digest of the whole that does not follow from those of the parts, so an upload in parts cannot have it. */
const isOfWholeAlone = (checksum: WholeChecksum | undefined): boolean =>
  checksum?.type === 'FULL_OBJECT' && !checksum.algorithm.startsWith('crc');

const condition = ({ object, conditional }: Replacement): Record<string, string> =>
  conditional ? { 'if-match': object.etag } : {};

const describing = ({ headers, digests: { md5 } }: Replacement): Record<string, string> => ({
  ...headers,
  ...(md5 !== undefined && { [md5Metadata]: md5 }),
});

/**
 * Reads the whole plaintext before it writes: a store may lock an object while it is read, as MinIO does, and a write
 * during the read would deadlock.
 */
async function writeWhole(
  services: ObjectServices,
  replacement: Replacement,
  signal: AbortSignal,
): Promise<Written> {
  const { object, layout, digests, memory } = replacement;
  const share = memory.ask(layout.size);
  try {
    await unlessAborted(share.granted, signal);
    const body = await wholeOf(replacement);
    const { checksum } = digests;
    // the handler verifies it against the plaintext
    const named =
      checksum?.type === 'FULL_OBJECT' ? { [`x-amz-checksum-${checksum.algorithm}`]: checksum.text } : {};
    const { headers } = await callHandler(services, putObject, {
      ...{ method: 'PUT', name: object.name, body: Readable.from([body]), length: layout.size, signal },
      headers: { ...describing(replacement), ...condition(replacement), ...named },
    });
    return { etag: unquote(inward(String(headers['etag']))) };
  } finally {
    if (!share.giveUp()) share.release();
  }
}

/** Copies each chunk on arrival, because a chunk is valid only until the next is requested. */
async function wholeOf({ layout: { size }, plaintext }: Replacement): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for await (const chunk of plaintext) {
    if (at + chunk.length > size) throw otherSize();
    at += chunk.copy(whole, at);
  }
  if (at === size) return whole;
  throw otherSize();
}

/** Of an answer of our own. */
const fieldOf = (text: string, root: string, field: string): string | undefined =>
  scanDocument(Buffer.from(text), { root, fields: [field] }).top.get(field);

const otherSize = () => s3Error('InternalError', 'The length of the object differs from its metadata.');

async function writeParts(
  services: ObjectServices,
  replacement: Replacement,
  planned: readonly PlannedPart[],
  signal: AbortSignal,
): Promise<Written> {
  const { object, layout, digests } = replacement;
  const { name } = object;
  const checksum = keepable(digests.checksum, layout);
  const created = await callHandler(services, createUpload, {
    ...{ method: 'POST', name, query: [['uploads', '']], signal },
    headers: { ...describing(replacement), ...algorithmHeaders(checksum) },
  });
  const uploadId = fieldOf(created.text, 'InitiateMultipartUploadResult', 'UploadId');
  if (uploadId === undefined) throw s3Error('InternalError', 'The object store named no upload.');
  const upload = ['uploadId', uploadId] as const;
  try {
    const parts = await sendParts(
      services,
      replacement,
      { planned, upload, checksums: ofParts(checksum, layout) },
      signal,
    );
    const document = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    const { text } = await callHandler(services, completeUpload, {
      ...{ method: 'POST', name, query: [upload], document, signal },
      headers: { ...condition(replacement), ...checksumHeaders(checksum) },
    });
    const etag = fieldOf(text, 'CompleteMultipartUploadResult', 'ETag');
    return { etag: unquote(inward(etag ?? '')) };
  } catch (error) {
    const abort = {
      method: 'DELETE',
      name,
      query: [upload],
      headers: {},
      signal: AbortSignal.timeout(30_000),
    };
    await callHandler(services, abortUpload, abort).catch(() => undefined);
    throw error;
  } finally {
    // nobody else repeats this Complete, so its record can go
    await services.uploads.abandon(name, uploadId).catch(() => undefined);
  }
}

/** A composite checksum needs the original parts; a checksum of the whole must follow from those of the parts. */
function keepable(checksum: WholeChecksum | undefined, layout: ObjectLayout): WholeChecksum | undefined {
  if (isOfWholeAlone(checksum)) return undefined;
  return checksum?.type === 'COMPOSITE' && layout.list?.ofParts === undefined ? undefined : checksum;
}

/**
 * Checksums in part order with header and element names; each part must be sent with its share of a composite checksum.
 */
function ofParts(checksum: WholeChecksum | undefined, { list }: ObjectLayout): readonly PartChecksum[] {
  if (checksum?.type !== 'COMPOSITE' || list?.ofParts === undefined) return [];
  const { ofParts, parts } = list;
  const { algorithm } = ofParts;
  return parts.map((_, index) => ({
    header: `x-amz-checksum-${algorithm}`,
    element: checksumElement(algorithm),
    text: partChecksum(ofParts, index).toString('base64'),
  }));
}

interface PartChecksum {
  readonly header: string;
  readonly element: string;
  readonly text: string;
}

const algorithmHeaders = (checksum: WholeChecksum | undefined): Record<string, string> =>
  checksum === undefined
    ? {}
    : {
        'x-amz-checksum-algorithm': checksum.algorithm.toUpperCase(),
        'x-amz-checksum-type': checksum.type,
      };

const checksumHeaders = (checksum: WholeChecksum | undefined): Record<string, string> =>
  checksum === undefined
    ? {}
    : { [`x-amz-checksum-${checksum.algorithm}`]: checksum.text, 'x-amz-checksum-type': checksum.type };

interface PartsToSend {
  readonly planned: readonly PlannedPart[];
  readonly upload: readonly [string, string];
  readonly checksums: readonly PartChecksum[];
}

/** @returns the parts' elements for Complete */
async function sendParts(
  services: ObjectServices,
  { object, plaintext }: Replacement,
  { planned, upload, checksums }: PartsToSend,
  signal: AbortSignal,
): Promise<string[]> {
  const parts: string[] = [];
  const cutter = new Cutter(plaintext);
  try {
    for (const [index, { number, size }] of planned.entries()) {
      const checksum = checksums[index];
      const { headers } = await callHandler(services, uploadPart, {
        ...{ method: 'PUT', name: object.name, query: [['partNumber', String(number)], upload] },
        headers: checksum === undefined ? {} : { [checksum.header]: checksum.text },
        ...{ body: cutter.take(size), length: size, signal },
      });
      const named = checksum === undefined ? '' : element(checksum.element, checksum.text);
      const etag = element('ETag', String(headers['etag']));
      parts.push(`<Part>${element('PartNumber', number)}${etag}${named}</Part>`);
    }
    // the plaintext is authentic only once it has ended
    for await (const _ of cutter.take(Number.POSITIVE_INFINITY)) throw otherSize();
    return parts;
  } finally {
    await cutter.close();
  }
}

/** Cuts a plaintext into pieces of given sizes. A chunk is valid until the next is requested. */
class Cutter {
  readonly #chunks: AsyncIterator<Buffer>;
  #left: Buffer = Buffer.alloc(0);

  constructor(plaintext: AsyncIterable<Buffer>) {
    this.#chunks = plaintext[Symbol.asyncIterator]();
  }

  /** Ends early if the plaintext does. */
  async *take(size: number): AsyncGenerator<Buffer> {
    for (let wanted = size; wanted > 0; ) {
      if (this.#left.length === 0) {
        const { done, value } = await this.#chunks.next();
        if (done) return;
        this.#left = value;
      }
      const piece = this.#left.subarray(0, wanted);
      this.#left = this.#left.subarray(piece.length);
      wanted -= piece.length;
      if (piece.length > 0) yield piece;
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
