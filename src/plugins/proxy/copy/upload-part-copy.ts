import { maxPlaintextBytes } from '../../../core/envelope/cipher.ts';
import { type ChecksumAlgorithm, type Checksums, createChecksum } from '../../../core/s3/checksum.ts';
import { s3Error } from '../../../core/s3/error.ts';
import type { Handler, ProxyServices } from '../context.ts';
import { encryptPart, type PartTarget, partTarget, recordPart } from '../multipart/upload-part.ts';
import { readAgain } from '../read/deliver.ts';
import { accessHeaders } from '../read/read-request.ts';
import type { ByteRange } from '../read/stored-object.ts';
import { respondSlowly, type SlowResponse } from '../server/slow-answer.ts';
import { copiedAnswer } from './copy-encrypted.ts';
import { versionOf } from './copy-object.ts';
import { type CopyRequest, readCopyRequest, sourceTooLarge, statSource } from './copy-request.ts';

/** UploadPartCopy: the source's range is decrypted, verified, and encrypted as a part of its own. */
export const uploadPartCopy: Handler = async (services, context) => {
  const { request, payload, signal } = context;
  await payload.read(0);
  const copy = readCopyRequest(request);
  const range = request.headers['x-amz-copy-source-range'];
  const wanted = range === undefined ? undefined : readRange(String(range));
  const target = await partTarget(services, request);
  const copying = readAgain({ started: false }, () => copyPart(services, copy, wanted, target, signal));
  await respondSlowly(services, context, copying);
};

async function copyPart(
  services: ProxyServices,
  copy: CopyRequest,
  range: ByteRange | undefined,
  target: PartTarget,
  signal: AbortSignal,
): Promise<SlowResponse> {
  const source = await statSource(services, copy, signal);
  const { object, layout } = source;
  const length = lengthWithin(range, layout.size);
  if (length > maxPlaintextBytes) throw sourceTooLarge();
  const plaintext = services.reader.plaintext(object, layout, range, { signal });
  const { algorithm } = target.record.checksum ?? {};
  const summed = algorithm === undefined ? { source: plaintext, checksums: none } : sum(plaintext, algorithm);
  const part = await encryptPart(services, {
    name: target.name,
    uploadId: target.record.uploadId,
    manifest: target.record.manifest,
    number: target.number,
    ...summed,
    length,
    headers: accessHeaders(copy.headers),
    signal,
  });
  await recordPart(services, target, part);
  const copied = {
    etag: `"${part.etag}"`,
    lastModified: undefined,
    headers: {},
    checksums: summed.checksums(),
  };
  return copiedAnswer('CopyPartResult', copied, versionOf(source));
}

const none = (): Checksums => new Map();

/** `plaintext` as it is, and its checksum once it has ended. */
function sum(plaintext: AsyncIterable<Buffer>, algorithm: ChecksumAlgorithm) {
  const running = createChecksum(algorithm);
  const checksums = new Map<ChecksumAlgorithm, Buffer>();
  async function* source(): AsyncGenerator<Buffer> {
    for await (const chunk of plaintext) {
      running.update(chunk);
      yield chunk;
    }
    checksums.set(algorithm, running.digest());
  }
  return { source: source(), checksums: (): Checksums => checksums };
}

/** Both ends must be given and lie within the source, unlike those of a GET. */
function readRange(header: string): ByteRange {
  const [, start = '', end = ''] = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(header) ?? [];
  const range = { start: Number(start), end: Number(end) };
  if (start !== '' && range.start <= range.end) return range;
  throw s3Error(
    'InvalidArgument',
    'The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy',
    { details: { ArgumentName: 'x-amz-copy-source-range', ArgumentValue: header.slice(0, 100) } },
  );
}

function lengthWithin(range: ByteRange | undefined, size: number): number {
  if (range === undefined) return size;
  if (range.end < size) return range.end - range.start + 1;
  throw s3Error('InvalidArgument', `Range specified is not valid for source object of size: ${size}`);
}
