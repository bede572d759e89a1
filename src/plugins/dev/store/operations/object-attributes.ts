import { s3Error } from '../../../../core/s3/error-catalog.ts';
import { element } from '../../../../core/s3/xml-write.ts';
import { namespace } from '../documents.ts';
import type { StoreHandler } from '../exchange.ts';
import type { StoredObject } from '../model.ts';

const attributes: Readonly<Record<string, (object: StoredObject) => string>> = {
  ETag: ({ etag }) => element('ETag', etag),
  Checksum: () => '',
  ObjectParts: partsXml,
  StorageClass: () => element('StorageClass', 'STANDARD'),
  ObjectSize: ({ size }) => element('ObjectSize', size),
};

export const getObjectAttributes: StoreHandler = ({ catalog, request, reply }) => {
  const object = catalog.bucket(request.bucket).object(request.key, request.query.get('versionId'));
  const wanted = String(request.headers['x-amz-object-attributes'] ?? '').split(',');
  const fields = wanted.map((name) => attributes[name.trim()]?.(object));
  if (fields.includes(undefined)) throw s3Error('InvalidArgument', 'Invalid attribute name specified.');
  const root = 'GetObjectAttributesResponse';
  const modified = new Date(object.modified).toUTCString();
  reply.xml(200, `<${root} ${namespace}>${fields.join('')}</${root}>`, { 'last-modified': modified });
};

function partsXml({ etag, content }: StoredObject): string {
  return etag.includes('-') ? `<ObjectParts>${element('TotalPartsCount', content.length)}</ObjectParts>` : '';
}
