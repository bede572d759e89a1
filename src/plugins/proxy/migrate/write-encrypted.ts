import { Readable } from 'node:stream';
import type { Budget } from '../../../core/budget.ts';
import { partChecksum } from '../../../core/envelope/sealed-checksums.ts';
import type { WholeChecksum } from '../../../core/s3/checksum.ts';
import { s3Error } from '../../../core/s3/error.ts';
import { inward, md5Metadata, unquote } from '../../../core/s3/headers.ts';
import { checksumElement, maxPartNumber } from '../../../core/s3/request-documents.ts';
import { childText, parseXml } from '../../../core/s3/xml.ts';
import { element } from '../../../core/s3/xml-text.ts';
import { unlessAborted } from '../../../runtime/lifecycle/wait.ts';
import type { ProxyServices } from '../context.ts';
import { createUpload } from '../multipart/create-upload.ts';
import { abortUpload, completeUpload } from '../multipart/end-upload.ts';
import { uploadPart } from '../multipart/upload-part.ts';
import type { KeptDigests, ObjectLayout, StoredObject } from '../read/stored-object.ts';
import { putObject } from '../write/put-object.ts';
import { callHandler } from './local-request.ts';

/** A plaintext that is to replace what it came from. */
export interface Replacement {
  readonly object: StoredObject;
  readonly layout: ObjectLayout;
  readonly digests: KeptDigests;
  /** The plaintext in order; it ends without error only when all of it was authentic. */
  readonly plaintext: AsyncIterable<Buffer>;
  /** What the object has beside its body. */
  readonly headers: Readonly<Record<string, string>>;
  /** False where the store holds no write to a condition. */
  readonly conditional: boolean;
  readonly partSize: number;
  /** For objects that are written in one piece. */
  readonly memory: Budget;
}

export interface Written {
  /** The store's, unquoted. */
  readonly etag: string;
}

const answerLimit = 64 * 1024;

/**
 * Writes it as the proxy would, in one piece or in parts, on the condition that the stored object is still the one that was read.
 * @throws S3Error PreconditionFailed, ConditionalRequestConflict or NoSuchKey where it is not; what the handlers throw
 */
export async function writeEncrypted(
  services: ProxyServices,
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

/** Parts of svc stay as they are, so that their numbers and composite checksums do. @returns undefined: in one piece */
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

/** A digest of the whole that none of parts leads to: an upload in parts cannot have it. */
const isOfWholeAlone = (checksum: WholeChecksum | undefined): boolean =>
  checksum?.type === 'FULL_OBJECT' && !checksum.algorithm.startsWith('crc');

const condition = ({ object, conditional }: Replacement): Record<string, string> =>
  conditional ? { 'if-match': object.etag } : {};

const describing = ({ headers, digests: { md5 } }: Replacement): Record<string, string> => ({
  ...headers,
  ...(md5 !== undefined && { [md5Metadata]: md5 }),
});

/**
 * The plaintext is here before the write begins: a store may lock an object while it is read (MinIO does), and then the write would
 * wait for the reading and the reading for the write.
 */
async function writeWhole(
  services: ProxyServices,
  replacement: Replacement,
  signal: AbortSignal,
): Promise<Written> {
  const { object, layout, digests, memory } = replacement;
  const share = memory.ask(layout.size);
  try {
    await unlessAborted(share.granted, signal);
    const body = await wholeOf(replacement);
    const { checksum } = digests;
    // the handler finds out whether the plaintext has it
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

/** Copied as it comes: a chunk is good until the next is asked for. */
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

const otherSize = () => s3Error('InternalError', 'The object has another length than its metadata say.');

async function writeParts(
  services: ProxyServices,
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
  const uploadId = childText(
    parseXml(created.text, 'InitiateMultipartUploadResult', answerLimit),
    'UploadId',
  );
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
    const etag = childText(parseXml(text, 'CompleteMultipartUploadResult', answerLimit), 'ETag');
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
    // nobody else repeats this Complete
    await services.uploads.abandon(name, uploadId).catch(() => undefined);
  }
}

/** One of parts goes with the parts that it was made over, and one of the whole only where those of parts lead to it. */
function keepable(checksum: WholeChecksum | undefined, layout: ObjectLayout): WholeChecksum | undefined {
  if (isOfWholeAlone(checksum)) return undefined;
  return checksum?.type === 'COMPOSITE' && layout.list?.ofParts === undefined ? undefined : checksum;
}

/** In the order of the parts, by the name of its header and its element; a composite one has to be named with each part. */
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

/** @returns what Complete has to say of them */
async function sendParts(
  services: ProxyServices,
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
    // only its end says that the plaintext was authentic
    for await (const _ of cutter.take(Number.POSITIVE_INFINITY)) throw otherSize();
    return parts;
  } finally {
    await cutter.close();
  }
}

/** Gives out a plaintext in pieces of given sizes. What it yields is good until the next is asked for. */
class Cutter {
  readonly #chunks: AsyncIterator<Buffer>;
  #left: Buffer = Buffer.alloc(0);

  constructor(plaintext: AsyncIterable<Buffer>) {
    this.#chunks = plaintext[Symbol.asyncIterator]();
  }

  /** Ends early where the plaintext does. */
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
