import { randomBytes } from 'node:crypto';
import { parsePartNumber } from '../../../../core/s3/complete-multipart.ts';
import { element } from '../../../../core/s3/xml-write.ts';
import { describeObject } from '../description.ts';
import { namespace, quoted } from '../documents.ts';
import type { StoreHandler } from '../exchange.ts';
import { receive } from '../receive.ts';

export const createUpload: StoreHandler = async ({ catalog, request, payload, reply }) => {
  await payload.read(0);
  const { bucket, key, headers } = request;
  const id = randomBytes(24).toString('base64url');
  catalog.beginUpload({ ...describeObject(headers), id, bucket, key, begun: Date.now() });
  const fields = [element('Bucket', bucket), element('Key', key), element('UploadId', id)].join('');
  const root = 'InitiateMultipartUploadResult';
  reply.xml(200, `<${root} ${namespace}>${fields}</${root}>`);
};

export const uploadPart: StoreHandler = async ({ catalog, request, payload, reply, checksums }) => {
  const { query } = request;
  const number = parsePartNumber(query.get('partNumber') ?? '');
  const { upload } = catalog.bucket(request.bucket).upload(request.key, query.get('uploadId'));
  await receive(catalog.blobs, payload, ({ blob, md5 }) => {
    catalog.putPart(upload, { number, etag: md5, blob, modified: Date.now() });
    reply.empty(200, { etag: quoted(md5), ...checksums });
  });
};

export const abortUpload: StoreHandler = ({ catalog, request, reply }) => {
  catalog.endUpload(catalog.bucket(request.bucket).upload(request.key, request.query.get('uploadId')).upload);
  reply.empty(204);
};
