import type { StoredBucket, StoreReply } from './model.ts';

/** XML that lists and ends things, as an honest store writes it. */
const document = (text: string): StoreReply => ({
  status: 200,
  headers: [['content-type', 'application/xml']],
  body: Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${text}`),
});

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

export const completed = (bucket: string, key: string, etag: string): string =>
  `<CompleteMultipartUploadResult><Bucket>${bucket}</Bucket><Key>${escaped(key)}</Key><ETag>${etag}</ETag></CompleteMultipartUploadResult>`;

/** ListObjects of both versions, and ListObjectVersions. */
export function listed(bucket: StoredBucket, query: ReadonlyMap<string, string>): StoreReply {
  const prefix = query.get('prefix') ?? '';
  const after = query.get('start-after') ?? query.get('marker') ?? query.get('key-marker') ?? '';
  const root = query.has('versions') ? 'ListVersionsResult' : 'ListBucketResult';
  const element = query.has('versions') ? 'Version' : 'Contents';
  const entries = [...bucket.objects]
    .filter(([key]) => key.startsWith(prefix) && key > after)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([key, { etag, body, modified }]) =>
        `<${element}><Key>${escaped(key)}</Key>${query.has('versions') ? '<VersionId>null</VersionId>' : ''}` +
        `<LastModified>${modified.toISOString()}</LastModified><ETag>${escaped(etag)}</ETag><Size>${body.length}</Size></${element}>`,
    );
  const count = query.get('list-type') === '2' ? `<KeyCount>${entries.length}</KeyCount>` : '';
  return document(
    `<${root}><Name>b</Name><Prefix>${escaped(prefix)}</Prefix>${count}<MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>${entries.join('')}</${root}>`,
  );
}

export function uploadsListed(bucket: StoredBucket, _query: ReadonlyMap<string, string>): StoreReply {
  const uploads = [...bucket.uploads].map(
    ([id, { key }]) => `<Upload><Key>${escaped(key)}</Key><UploadId>${id}</UploadId></Upload>`,
  );
  return document(
    `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${uploads.join('')}</ListMultipartUploadsResult>`,
  );
}

/** DeleteObjects. */
export function removed(bucket: StoredBucket, body: string): StoreReply {
  const keys = [...body.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key);
  for (const key of keys) bucket.objects.delete(key);
  const quiet = /<Quiet>true<\/Quiet>/.test(body);
  const lines = quiet ? [] : keys.map((key) => `<Deleted><Key>${key}</Key></Deleted>`);
  return document(`<DeleteResult>${lines.join('')}</DeleteResult>`);
}
