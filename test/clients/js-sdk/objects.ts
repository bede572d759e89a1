import {
  GetObjectAttributesCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import * as assert from 'uvu/assert';
import { BUCKET } from '../bed.ts';
import { FAITHFUL_KEYS, LONGEST_KEY } from '../odd-keys.ts';
import { at, content, own, refusal, type SdkSuite, same } from './sdk.ts';

const SIZES = [0, 1, 16, 4096, 65_536, 1_048_577];

const DESCRIPTION = {
  ContentType: 'text/x-odd; charset=utf-8',
  CacheControl: 'max-age=60, private',
  ContentEncoding: 'gzip',
  ContentDisposition: 'attachment; filename="a b.txt"',
  ContentLanguage: 'de-AT',
  Expires: new Date('2031-05-06T07:08:09Z'),
  Metadata: { name: 'G%C3%A4rtner', 'mixed-case': 'Kept As Is', number: '17' },
};

/** Single objects: content, ranges, descriptions, keys. */
export function objectTests(test: SdkSuite): void {
  test('puts and gets buffers; sizes and ETags agree everywhere', async ({ bed, s3 }) => {
    for (const size of SIZES) {
      const key = `buffers/${size}`;
      const body = bed.payload(size);
      const { ETag } = await s3.send(new PutObjectCommand({ ...at(key), Body: body }));
      const got = await s3.send(new GetObjectCommand(at(key)));
      same(await content(got), body, key);
      const head = await s3.send(new HeadObjectCommand(at(key)));
      const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix: key }));
      const shown = Contents?.find(({ Key }) => Key === key);
      assert.equal([got.ContentLength, head.ContentLength, shown?.Size], [size, size, size], key);
      assert.equal([got.ETag, head.ETag, shown?.ETag], [ETag, ETag, ETag], key);
      const ObjectAttributes = ['ETag' as const, 'ObjectSize' as const];
      const attributes = await s3.send(new GetObjectAttributesCommand({ ...at(key), ObjectAttributes }));
      assert.is(attributes.ObjectSize, size, key);
    }
  });

  test('puts strings and views', async ({ bed, s3 }) => {
    const bytes = bed.payload(9000);
    const bodies = {
      string: `${bed.marker} äöü€`,
      view: new Uint8Array(bytes.buffer, bytes.byteOffset + 7, 5000),
    };
    for (const [key, body] of Object.entries(bodies)) {
      await s3.send(new PutObjectCommand({ ...at(key), Body: body }));
      same(await content(await s3.send(new GetObjectCommand(at(key)))), Buffer.from(body), key);
    }
  });

  test('gets ranges', async ({ bed, s3 }) => {
    const body = bed.payload(70_000);
    await s3.send(new PutObjectCommand({ ...at('ranges'), Body: body }));
    for (const [range, begin, end] of [
      ['0-0', 0, 1],
      ['5-14', 5, 15],
      ['69990-', 69_990, 70_000],
      ['-100', 69_900, 70_000],
      ['69999-123456', 69_999, 70_000],
      ['0-69999', 0, 70_000],
    ] as const) {
      const got = await s3.send(new GetObjectCommand({ ...at('ranges'), Range: `bytes=${range}` }));
      assert.is(got.$metadata.httpStatusCode, 206, range);
      assert.is(got.ContentRange, `bytes ${begin}-${end - 1}/70000`);
      same(await content(got), body.subarray(begin, end), range);
    }
    const beyond = s3.send(new GetObjectCommand({ ...at('ranges'), Range: 'bytes=70000-' }));
    assert.is(await refusal(beyond), '416 InvalidRange');
  });

  test('metadata and content headers come back as sent', async ({ bed, s3 }) => {
    await s3.send(new PutObjectCommand({ ...at('described'), Body: bed.payload(100), ...DESCRIPTION }));
    const answers = [
      await s3.send(new HeadObjectCommand(at('described'))),
      await s3.send(new GetObjectCommand(at('described'))),
      await s3.send(new GetObjectCommand({ ...at('described'), Range: 'bytes=1-2' })),
    ];
    for (const { ContentType, CacheControl, ContentEncoding, ContentDisposition, ...rest } of answers) {
      const { ContentLanguage, ExpiresString, Metadata } = rest;
      const Expires = new Date(ExpiresString ?? '');
      const told = {
        ContentType,
        CacheControl,
        ContentEncoding,
        ContentDisposition,
        ContentLanguage,
        Expires,
      };
      assert.equal({ ...told, Metadata: own(Metadata) }, DESCRIPTION);
    }
    const override = { ResponseContentType: 'text/other', ResponseCacheControl: 'no-store' };
    const other = await s3.send(new GetObjectCommand({ ...at('described'), ...override }));
    assert.equal([other.ContentType, other.CacheControl], ['text/other', 'no-store']);
    await content(other);
  });

  test('odd keys are put, read and listed', async ({ bed, s3 }) => {
    const keys = [...FAITHFUL_KEYS[bed.store.kind].map((key) => `odd/${key}`), LONGEST_KEY];
    for (const key of keys) {
      const body = key.endsWith('/') ? Buffer.alloc(0) : Buffer.from(`${bed.marker} ${key}`);
      await s3.send(
        new PutObjectCommand({
          ...at(key),
          Body: body,
          Metadata: { of: encodeURIComponent(key.slice(0, 99)) },
        }),
      );
      const got = await s3.send(new GetObjectCommand(at(key)));
      same(await content(got), body, key);
      assert.equal(own(got.Metadata), { of: encodeURIComponent(key.slice(0, 99)) }, key);
    }
    for (const wish of [{}, { EncodingType: 'url' as const }]) {
      const list = new ListObjectsV2Command({ Bucket: BUCKET, Prefix: 'odd/', ...wish });
      const { Contents = [], EncodingType } = await s3.send(list);
      const listed = Contents.map(({ Key = '' }) => (EncodingType ? decoded(Key) : Key));
      assert.equal(listed.sort(), keys.filter((key) => key !== LONGEST_KEY).sort());
    }
    const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix: 'long-' }));
    assert.equal(
      Contents?.map(({ Key }) => Key),
      [LONGEST_KEY],
    );
  });

  test('slashes in front and doubled: the proxy answers as the store alone', async ({ bed, s3 }) => {
    const direct = bed.store.client;
    await bed.store.createBucket('alone');
    for (const key of ['/slash/1', '//slash/2', 'slash//3']) {
      const Body = Buffer.from(`${key} of no secret`);
      const bare = await outcome(direct.send(new PutObjectCommand({ Bucket: 'alone', Key: key, Body })));
      const proxied = await outcome(s3.send(new PutObjectCommand({ ...at(key), Body })));
      assert.is(proxied, bare, key);
      if (bare === 'done') same(await content(await s3.send(new GetObjectCommand(at(key)))), Body, key);
    }
  });

  test('keys that are too long, or have segments that stores resolve, are refused', async ({ s3 }) => {
    const put = (key: string) => s3.send(new PutObjectCommand({ ...at(key), Body: 'x' }));
    for (const key of ['a/./b', 'a/../b', '../a', '.', 'a/..'])
      assert.is(await refusal(put(key)), '400 InvalidURI', key);
    assert.is(await refusal(put(`${LONGEST_KEY}1`)), '400 KeyTooLongError');
  });
}

/** As the listing's URL encoding has it: `+` stands for a space. */
const decoded = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));

async function outcome(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(
    () => 'done',
    (error) => refusal(Promise.reject(error)),
  );
}
