import {
  GetObjectTaggingCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bed, BUCKET, MiB, sha256, startBed } from '../../../clients/bed.ts';
import type { ObjectStore } from '../../../support/types.ts';
import { type BulkSetting, settingOf } from '../bulk-command.ts';
import { put, upload } from '../rewrap/rewrapping.ts';
import { audit, head, migrate, migrateResult, read } from './migrating.ts';

interface Context {
  readonly bed: Bed;
  /** Through the relay that counts. */
  readonly setting: BulkSetting;
}

const described = {
  Metadata: { owner: 'me', 'svcish-name': 'kept' },
  ContentType: 'text/x',
  CacheControl: 'no-store',
  ContentDisposition: 'attachment; filename="a b"',
  ContentEncoding: 'br',
  ContentLanguage: 'de',
  Tagging: 'a=b%20c&d=e',
};

const at = (prefix: string) => `s3://${BUCKET}/${prefix}`;

/** What the keys of a bucket are stored as. */
async function storedAs({ store }: Bed, key: string): Promise<string> {
  const { Metadata = {} } = await head(store.client, key);
  return Metadata['svc-algorithm'] ?? 'plaintext';
}

async function stored({ store }: Bed, Prefix: string): Promise<Map<string, string>> {
  const { Contents = [] } = await store.client.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix }));
  return new Map(Contents.map(({ Key = '', ETag = '' }) => [Key, ETag]));
}

const formats = { '1': 'AES-256-GCM', '2': 'AES-256-GCM-STREAM-64KiB' } as const;

/** What holds at any store. */
export function storeSuite(kind: ObjectStore['kind']): void {
  const test = suite<Context>(`svc proxy migrate at ${kind}`);

  test.before(async (context) => {
    const bed = await startBed({ store: kind });
    const setting = await settingOf(bed);
    const store = { ...bed.store, endpoint: bed.log.url };
    Object.assign(context, { bed, setting: { ...setting, store } });
  });

  test.after(async ({ bed }) => {
    await bed?.stop();
  });

  for (const format of ['1', '2'] as const) {
    test(`plaintext to format ${format}: every byte, and all that belongs to an object`, async ({
      bed,
      setting,
    }) => {
      const { client } = bed.store;
      const prefix = `plain-${format}/`;
      const objects = new Map([
        await put(client, `${prefix}empty`, Buffer.alloc(0)),
        await put(client, `${prefix}folder/`, Buffer.alloc(0)),
        await put(client, `${prefix}small ü+%.txt`, bed.payload(100), described),
        await put(client, `${prefix}edge`, bed.payload(64 * 1024)),
        await put(client, `${prefix}streamed`, bed.payload(64 * 1024 + 1), { ChecksumAlgorithm: 'SHA256' }),
        await put(client, `${prefix}large`, bed.payload(11 * MiB + 7), {
          ...described,
          ChecksumAlgorithm: 'CRC32C',
        }),
        await upload({ client, payload: bed.payload }, `${prefix}parts`, 2, described),
      ]);
      const checksums = new Map<string, readonly (string | undefined)[]>();
      for (const key of objects.keys()) {
        const { ChecksumSHA256, ChecksumCRC32C } = await head(client, key);
        checksums.set(key, [ChecksumSHA256, ChecksumCRC32C]);
      }
      const before = await stored(bed, prefix);
      const args = ['--format', format, '--part-size', '5MiB', '--json'];

      bed.log.clear();
      const counted = migrateResult(await migrate(setting, at(prefix), '--dry-run', ...args));
      const sizes = [...objects.values()].reduce((sum, { length }) => sum + length, 0);
      assert.equal(
        [counted.pending, counted.fromPlaintext, counted.bytes],
        [objects.size, objects.size, sizes],
      );
      assert.equal([counted.migrated, counted.complete], [0, false]);
      assert.ok(
        bed.log.requests.every(({ method }) => method === 'GET' || method === 'HEAD'),
        'a dry run writes nothing',
      );
      assert.equal(await stored(bed, prefix), before);

      bed.log.clear();
      const done = migrateResult(await migrate(setting, at(prefix), ...args));
      assert.equal(
        [done.migrated, done.faultCount, done.complete],
        [objects.size, 0, true],
        JSON.stringify(done),
      );
      assert.equal([done.replaced, done.unconditional], [0, []]);
      const probes = bed.log.requests.filter(({ path }) => path.includes('probe-of-write-conditions'));
      const { requests = 0, bytesWritten = 0 } = counted.estimate ?? {};
      const sent = bed.log.requests.length - probes.length;
      assert.ok(Math.abs(sent - requests) <= requests / 4, `${sent} requests, ${requests} were expected`);
      const written = bed.log.requests.reduce((sum, { requestBytes }) => sum + requestBytes, 0);
      assert.ok(
        Math.abs(written - bytesWritten) < bytesWritten / 10,
        `${written} bytes, not ${bytesWritten}`,
      );

      for (const [key, body] of objects) {
        assert.is(await storedAs(bed, key), formats[format], key);
        assert.is(sha256(await read(bed.client, key)), sha256(body), key);
        assert.not.ok((await read(client, key)).includes(bed.marker), key);
        const { ChecksumSHA256, ChecksumCRC32C } = await head(bed.client, key);
        assert.equal([ChecksumSHA256, ChecksumCRC32C], checksums.get(key), key);
      }
      for (const key of ['small ü+%.txt', 'large', 'parts'].map((name) => prefix + name)) {
        const now = await head(bed.client, key);
        assert.equal(
          [
            now.ContentType,
            now.CacheControl,
            now.ContentDisposition,
            now.ContentEncoding,
            now.ContentLanguage,
          ],
          ['text/x', 'no-store', 'attachment; filename="a b"', 'br', 'de'],
        );
        assert.equal([now.Metadata?.['owner'], now.Metadata?.['svcish-name']], ['me', 'kept']);
        const { TagSet } = await client.send(new GetObjectTaggingCommand({ Bucket: BUCKET, Key: key }));
        assert.equal(
          TagSet?.sort((one, other) => ((one.Key ?? '') < (other.Key ?? '') ? -1 : 1)),
          [
            { Key: 'a', Value: 'b c' },
            { Key: 'd', Value: 'e' },
          ],
        );
      }
      const uploads = await client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }));
      assert.equal(uploads.Uploads ?? [], []);
      assert.equal([...(await stored(bed, '.svc/uploads/')).keys()], [], 'no record of an upload stays');

      const audited = await audit(setting, prefix);
      assert.is(audited.status, 0, audited.stdout);
      const after = await stored(bed, prefix);
      const again = migrateResult(await migrate(setting, at(prefix), ...args));
      assert.equal([again.current, again.migrated, again.complete], [objects.size, 0, true]);
      assert.equal(await stored(bed, prefix), after);
    });
  }

  test('format 1 to format 2: parts, checksums of parts and the MD5 that a caller named stay', async ({
    bed,
    setting,
  }) => {
    const prefix = 'one-two/';
    const objects = new Map([
      await put(bed.client, `${prefix}empty`, Buffer.alloc(0)),
      await put(bed.client, `${prefix}folder/`, Buffer.alloc(0)),
      await put(bed.client, `${prefix}small`, bed.payload(100), {
        ...described,
        Metadata: { ...described.Metadata, md5chksum: 'rL0Y20zC+Fzt72VPzMSk2A==' },
      }),
      await put(bed.client, `${prefix}large`, bed.payload(6 * MiB)),
      await upload(bed, `${prefix}parts`, 3, { ...described, ChecksumAlgorithm: 'SHA256' }),
    ]);
    const plain = await put(bed.store.client, `${prefix}plain`, bed.payload(300));
    const parts = await head(bed.client, `${prefix}parts`);
    const untouched = migrateResult(await migrate(setting, at(`${prefix}large`), '--json'));
    assert.equal([untouched.current, untouched.migrated], [1, 0], 'format 1 is what was asked for');

    const result = migrateResult(await migrate(setting, at(prefix), '--format', '2', '--json'));
    assert.equal(
      [result.fromFormat1, result.fromPlaintext, result.faultCount, result.complete],
      [objects.size, 1, 0, true],
      JSON.stringify(result),
    );
    for (const [key, body] of [...objects, plain]) {
      assert.is(await storedAs(bed, key), formats['2'], key);
      assert.is(sha256(await read(bed.client, key)), sha256(body), key);
    }
    const now = await head(bed.client, `${prefix}parts`);
    assert.ok(parts.ChecksumSHA256?.endsWith('-3'));
    assert.is(now.ChecksumSHA256, parts.ChecksumSHA256);
    assert.is(now.ContentType, 'text/x');
    const small = await head(bed.client, `${prefix}small`);
    assert.is(small.Metadata?.['md5chksum'], 'rL0Y20zC+Fzt72VPzMSk2A==');
    assert.is((await head(bed.store.client, `${prefix}small`)).Metadata?.['md5chksum'], undefined);
    const manifests = await stored(bed, '.svc/manifests/');
    const pointers = (
      await Promise.all([...objects.keys(), plain[0]].map((key) => head(bed.store.client, key)))
    ).filter(({ Metadata }) => Metadata?.['svc-wrapped-dek']?.includes('"manifest"'));
    assert.is(pointers.length, 1);
    assert.ok(manifests.size >= 1);
    assert.is((await audit(setting, prefix)).status, 0);
    const back = migrateResult(await migrate(setting, at(prefix), '--format', '1', '--json'));
    assert.equal([back.current, back.migrated], [objects.size + 1, 0], 'nothing goes back to format 1');
  });

  test('what cannot be kept or is not whole is left as it is and named', async ({ bed, setting }) => {
    const { client } = bed.store;
    const prefix = 'faults/';
    await put(client, `${prefix}reserved`, bed.payload(50), { Metadata: { 'svc-owner': 'me' } });
    await put(client, `${prefix}partial`, bed.payload(50), { Metadata: { 'svc-encrypted': 'true' } });
    await put(client, `${prefix}full`, bed.payload(50), { Metadata: { x: 'y'.repeat(1900) } });
    await put(client, `${prefix}good`, bed.payload(50));
    const before = await stored(bed, prefix);
    const result = await migrate(setting, at(prefix), '--json');
    assert.is(result.status, 1);
    const report = migrateResult(result);
    assert.is(report.migrated, 1);
    assert.equal(Object.fromEntries(report.faults.map(({ key, reason }) => [key, reason])), {
      [`${prefix}full`]: 'MetadataTooLarge',
      [`${prefix}partial`]: 'partial-metadata',
      [`${prefix}reserved`]: 'MetadataNotKept',
    });
    const after = await stored(bed, prefix);
    for (const [key, etag] of before) if (key !== `${prefix}good`) assert.is(after.get(key), etag, key);
  });

  test.run();
}
