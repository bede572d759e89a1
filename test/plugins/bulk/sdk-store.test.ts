import type { S3Client } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SdkStore, sdkPages } from '../../../src/plugins/bulk/engine/sdk-store.ts';

const test = suite('the store of gc and audit');

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
    const store = new SdkStore(endless(answer));
    const listings = {
      objects: store.list('bucket', ''),
      uploads: store.openUploads('bucket'),
      after: store.list('bucket', '', { after: 'a' }),
    };
    for (const [of, pages] of Object.entries(listings)) assert.is(await failure(pages), 'BrokenListing', of);
  });

/** A bucket whose one key has these versions, as its listing has them. */
function versioned(
  versions: readonly { VersionId: string; IsLatest: boolean }[],
  asked: unknown[],
): S3Client {
  const send = async ({ input }: { input: { VersionId?: string } }) => {
    if ('Prefix' in input) return { Versions: versions.map((one) => ({ Key: 'a', ...one })) };
    asked.push(input.VersionId);
    return { Metadata: { 'Svc-Version': input.VersionId ?? 'current' } };
  };
  return { send } as unknown as S3Client;
}

test('an older version that was written before the bucket kept versions is looked at, too', async () => {
  const asked: unknown[] = [];
  const versions = [
    { VersionId: '2', IsLatest: true },
    { VersionId: 'null', IsLatest: false },
  ];
  const found = await collected(new SdkStore(versioned(versions, asked)).versions('bucket', 'a'));
  assert.equal(asked, [undefined, '2', 'null']);
  assert.equal(found.at(-1), { 'x-amz-meta-svc-version': 'null' });
});

test('without versions, an object is looked at once', async () => {
  const asked: unknown[] = [];
  const store = new SdkStore(versioned([{ VersionId: 'null', IsLatest: true }], asked));
  await collected(store.versions('bucket', 'a'));
  assert.equal(asked, [undefined]);
});

test.run();
