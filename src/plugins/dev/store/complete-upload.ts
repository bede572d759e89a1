import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { s3Error } from '../../../core/s3/error.ts';
import { type CompletedPart, parseCompleteMultipart } from '../../../core/s3/request-documents.ts';
import { element } from '../../../core/s3/xml-text.ts';
import type { OpenUpload } from './catalog.ts';
import type { StoreHandler, StoreLimits } from './exchange.ts';
import { checkWrite, namespace, type Part, partSize, quoted, type StoredObject } from './object.ts';

/** 10,000 parts with every checksum that a client may add. */
const listLimit = 8 * 1024 ** 2;

export const completeUpload: StoreHandler = async ({ catalog, limits, request, payload, reply }) => {
  const xml = (await payload.read(listLimit)).toString();
  const { bucket: name, key, headers } = request;
  const bucket = catalog.bucket(name);
  const open = bucket.upload(key, request.query.get('uploadId'));
  const parts = chosenParts(open, parseCompleteMultipart(xml));
  checkSizes(parts, headers, limits);
  checkWrite(headers, bucket.objects.get(key));
  const object = assemble(open, parts);
  catalog.put(object);
  catalog.endUpload(open.upload);
  reply.xml(200, resultXml(object));
};

function chosenParts({ parts }: OpenUpload, wanted: readonly CompletedPart[]): Part[] {
  return wanted.map(({ partNumber, etag }) => {
    const part = parts.get(partNumber);
    if (part?.etag !== etag)
      throw s3Error('InvalidPart', undefined, { details: { PartNumber: String(partNumber) } });
    return part;
  });
}

function checkSizes(
  parts: readonly Part[],
  headers: IncomingHttpHeaders,
  { leastPartBytes }: StoreLimits,
): void {
  if (parts.slice(0, -1).some((part) => partSize(part) < leastPartBytes)) throw s3Error('EntityTooSmall');
  const announced = headers['x-amz-mp-object-size'];
  if (announced !== undefined && Number(announced) !== total(parts))
    throw s3Error('InvalidRequest', 'The parts do not have the size that x-amz-mp-object-size gives.');
}

const total = (parts: readonly Part[]): number => parts.reduce((sum, part) => sum + partSize(part), 0);

function assemble({ upload }: OpenUpload, parts: readonly Part[]): StoredObject {
  const { bucket, key, headers, tags } = upload;
  const md5 = createHash('md5');
  for (const { etag } of parts) md5.update(etag, 'hex');
  const etag = `${md5.digest('hex')}-${parts.length}`;
  const content = parts.flatMap(({ blob }) => (blob ? [blob] : []));
  return { bucket, key, headers, tags, etag, size: total(parts), modified: Date.now(), content };
}

function resultXml({ bucket, key, etag }: StoredObject): string {
  const fields = [element('Bucket', bucket), element('Key', key), element('ETag', quoted(etag))].join('');
  const root = 'CompleteMultipartUploadResult';
  return `<${root} ${namespace}>${fields}</${root}>`;
}
