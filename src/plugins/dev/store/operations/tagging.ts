import { s3Error } from '../../../../core/s3/error-catalog.ts';
import type { StoreHandler } from '../exchange.ts';
import { maxTaggingBytes, parseTagging, taggingXml } from '../tags.ts';

/** GET, PUT and DELETE of `?tagging` of an object. */
export const objectTagging: StoreHandler = async ({ catalog, request, payload, reply }) => {
  const { bucket, key, query, method } = request;
  if (!query.has('tagging')) throw s3Error('NotImplemented');
  const body = (await payload.read(maxTaggingBytes)).toString();
  const object = catalog.bucket(bucket).object(key, query.get('versionId'));
  if (method === 'GET') return reply.xml(200, taggingXml(object.tags));
  catalog.put({ ...object, tags: method === 'PUT' ? parseTagging(body) : [] });
  reply.empty(method === 'PUT' ? 200 : 204);
};
