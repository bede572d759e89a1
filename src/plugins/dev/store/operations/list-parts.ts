import { element } from '../../../../core/s3/xml-write.ts';
import { isoTime, namespace, owner, quoted } from '../documents.ts';
import type { StoreHandler } from '../exchange.ts';
import { type Part, partSize } from '../model.ts';
import { pageSize } from '../page.ts';

export const listParts: StoreHandler = ({ catalog, request, reply }) => {
  const { bucket, key, query } = request;
  const { upload, parts } = catalog.bucket(bucket).upload(key, query.get('uploadId'));
  const marker = Number(query.get('part-number-marker') ?? 0);
  const max = pageSize(query, 'max-parts');
  const rest = [...parts.values()].filter(({ number }) => number > marker).sort(byNumber);
  const shown = rest.slice(0, max);
  const isTruncated = shown.length < rest.length;
  const fields = [
    element('Bucket', bucket),
    element('Key', key),
    element('UploadId', upload.id),
    owner,
    element('StorageClass', 'STANDARD'),
    element('PartNumberMarker', marker),
    // The SDK's paginator goes on for as long as there is one.
    ...(isTruncated ? [element('NextPartNumberMarker', shown.at(-1)?.number ?? 0)] : []),
    element('MaxParts', max),
    element('IsTruncated', isTruncated),
    ...shown.map(partXml),
  ];
  reply.xml(200, `<ListPartsResult ${namespace}>${fields.join('')}</ListPartsResult>`);
};

const byNumber = (left: Part, right: Part): number => left.number - right.number;

function partXml(part: Part): string {
  const fields = [
    element('PartNumber', part.number),
    element('LastModified', isoTime(part.modified)),
    element('ETag', quoted(part.etag)),
    element('Size', partSize(part)),
  ];
  return `<Part>${fields.join('')}</Part>`;
}
