import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3';
import * as assert from 'uvu/assert';
import { BUCKET } from '../bed.ts';
import { at, content, refusal, type SdkSuite, same, source } from './sdk.ts';

const VERSIONED = 'versioned';
const SIZES = { 'list/a/1': 1000, 'list/a/2': 0, 'list/b/1': 70_000, 'list/one': 17, 'list/two': 18 };
const FOLDED = { objects: ['list/one', 'list/two'], folders: ['list/a/', 'list/b/'] };

/** Listings of three kinds, and versions. */
export function listingTests(test: SdkSuite): void {
  test('versions 1 and 2 page, fold and show plaintext sizes', async ({ bed, s3 }) => {
    for (const [key, size] of Object.entries(SIZES))
      await s3.send(new PutObjectCommand({ ...at(key), Body: bed.payload(size) }));
    for (const turn of ['first', 'from the cache']) {
      const sizes: Record<string, number | undefined> = {};
      const pages = paginateListObjectsV2({ client: s3, pageSize: 2 }, { Bucket: BUCKET, Prefix: 'list/' });
      let count = 0;
      for await (const { Contents = [] } of pages) {
        count++;
        for (const { Key = '', Size } of Contents) sizes[Key] = Size;
      }
      assert.equal(sizes, SIZES, turn);
      assert.ok(count >= 3, `${count} pages`);
    }
    const folding = { Bucket: BUCKET, Prefix: 'list/', Delimiter: '/' };
    const { Contents, CommonPrefixes } = await s3.send(new ListObjectsCommand(folding));
    const folded = {
      objects: Contents?.map(({ Key }) => Key),
      folders: CommonPrefixes?.map(({ Prefix }) => Prefix),
    };
    assert.equal(folded, FOLDED);
    assert.equal(
      Contents?.map(({ Size }) => Size),
      [17, 18],
    );
    const page = await s3.send(new ListObjectsCommand({ Bucket: BUCKET, Prefix: 'list/', MaxKeys: 2 }));
    assert.ok(page.IsTruncated);
    const Marker = page.Contents?.at(-1)?.Key;
    const rest = await s3.send(new ListObjectsCommand({ Bucket: BUCKET, Prefix: 'list/', Marker }));
    assert.equal(
      rest.Contents?.map(({ Key }) => Key),
      Object.keys(SIZES).slice(2),
    );
  });

  test('versions are listed with plaintext sizes, read, copied and deleted', async ({ bed, s3 }) => {
    await bed.store.createBucket(VERSIONED, { versioning: true });
    const key = { Bucket: VERSIONED, Key: 'many' };
    const bodies = [bed.payload(1000), bed.payload(2000)];
    const ids: string[] = [];
    for (const Body of bodies)
      ids.push((await s3.send(new PutObjectCommand({ ...key, Body }))).VersionId ?? '');
    const list = () => s3.send(new ListObjectVersionsCommand({ Bucket: VERSIONED }));
    const { Versions = [] } = await list();
    assert.equal(
      Versions.map(({ VersionId, Size, IsLatest }) => [VersionId, Size, IsLatest]),
      [
        [ids[1], 2000, true],
        [ids[0], 1000, false],
      ],
    );
    for (const [index, VersionId] of ids.entries()) {
      same(
        await content(await s3.send(new GetObjectCommand({ ...key, VersionId }))),
        bodies[index] as Buffer,
      );
      assert.is(
        (await s3.send(new HeadObjectCommand({ ...key, VersionId }))).ContentLength,
        bodies[index]?.length,
      );
    }
    await s3.send(new DeleteObjectCommand(key));
    assert.is(await refusal(s3.send(new GetObjectCommand(key))), '404 NoSuchKey');
    assert.is((await list()).DeleteMarkers?.length, 1);
    const CopySource = `${source('many', VERSIONED)}?versionId=${ids[0]}`;
    await s3.send(new CopyObjectCommand({ ...key, CopySource }));
    same(await content(await s3.send(new GetObjectCommand(key))), bodies[0] as Buffer);
    await s3.send(new DeleteObjectCommand({ ...key, VersionId: ids[1] }));
    assert.match(await refusal(s3.send(new GetObjectCommand({ ...key, VersionId: ids[1] }))), /^404 NoSuch/);
    same(await content(await s3.send(new GetObjectCommand(key))), bodies[0] as Buffer);
  });
}
