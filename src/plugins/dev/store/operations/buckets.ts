import { element } from '../../../../core/s3/xml-write.ts';
import { isoTime, namespace, owner } from '../documents.ts';
import type { StoreHandler } from '../exchange.ts';

const configurationBytes = 64 * 1024;

export const listBuckets: StoreHandler = ({ catalog, reply }) => {
  const buckets = catalog
    .buckets()
    .map(
      ({ name, created }) =>
        `<Bucket>${element('Name', name)}${element('CreationDate', isoTime(created))}</Bucket>`,
    );
  const root = 'ListAllMyBucketsResult';
  reply.xml(200, `<${root} ${namespace}>${owner}<Buckets>${buckets.join('')}</Buckets></${root}>`);
};

export const createBucket: StoreHandler = async ({ catalog, request, payload, reply }) => {
  await payload.read(configurationBytes);
  catalog.createBucket(request.bucket);
  reply.empty(200, { location: `/${request.bucket}` });
};

export const headBucket: StoreHandler = ({ catalog, request, reply }) => {
  catalog.bucket(request.bucket);
  reply.empty(200, { 'x-amz-bucket-region': 'us-east-1' });
};

export const deleteBucket: StoreHandler = ({ catalog, request, reply }) => {
  catalog.deleteBucket(request.bucket);
  reply.empty(204);
};
