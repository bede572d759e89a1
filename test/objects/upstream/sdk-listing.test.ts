import type { S3Client } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sdkPages } from '../../../src/objects/upstream/sdk-listing.ts';
import { s3AuditStore } from '../../../src/plugins/audit/bucket/s3-store.ts';
import { SdkGcStore } from '../../../src/plugins/bulk/gc/gc-store.ts';

const test = suite('listings by the SDK');

async function collected<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(page);
  return all;
}

const failure = (pages: AsyncIterable<unknown>): Promise<string> =>
  collected(pages).then(
    () => 'ended',
    (error: Error) => error.name,
  );

test('goes on from the markers of each page until one is the last', async () => {
  const asked: object[] = [];
  const send = async (from: object) => {
    asked.push(from);
    return { IsTruncated: asked.length < 3, next: String(asked.length) };
  };
  const pages = await collected(sdkPages(send, ({ next }) => ({ marker: next })));
  assert.is(pages.length, 3);
  assert.equal(asked, [{}, { marker: '1' }, { marker: '2' }]);
});

/** Says of each page that another one follows, at the same place. */
const endless = (answer: object): S3Client =>
  ({ send: async () => ({ IsTruncated: true, ...answer }) }) as unknown as S3Client;
const markers = {
  NextContinuationToken: 'again',
  NextKeyMarker: 'again',
  NextUploadIdMarker: 'again',
};

for (const [name, answer] of Object.entries({
  'without end': markers,
  'without its continuation': {},
}))
  test(`a listing ${name} ends each of them`, async () => {
    const gc = new SdkGcStore(endless(answer), '.svc/');
    const { signal } = new AbortController();
    const listings = {
      objects: gc.list('bucket', ''),
      uploads: gc.openUploads('bucket'),
      audited: s3AuditStore(endless(answer), 'bucket', '').pages(undefined, signal),
    };
    for (const [of, pages] of Object.entries(listings)) assert.is(await failure(pages), 'BrokenListing', of);
  });

test.run();
