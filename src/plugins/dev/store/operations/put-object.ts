import { checkWrite } from '../conditions.ts';
import { describeObject } from '../description.ts';
import { quoted } from '../documents.ts';
import type { StoreHandler } from '../exchange.ts';
import { receive } from '../receive.ts';

export const putObject: StoreHandler = async ({ catalog, request, payload, reply, checksums }) => {
  const { bucket: name, key, headers } = request;
  const bucket = catalog.bucket(name);
  const description = describeObject(headers);
  checkWrite(headers, bucket.objects.get(key));
  await receive(catalog.blobs, payload, ({ blob, md5 }) => {
    checkWrite(headers, bucket.objects.get(key));
    const facts = { bucket: name, key, etag: md5, size: blob?.size ?? 0, modified: Date.now() };
    catalog.put({ ...description, ...facts, content: blob ? [blob] : [] });
    reply.empty(200, { etag: quoted(md5), ...checksums });
  });
};
