import { createHash } from 'node:crypto';
import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { filesBelow, formatScript, readByPython } from '../objects/format/python-reader.ts';
import { runAudit } from '../plugins/audit/run-audit.ts';
import { decrypt, reportOf } from '../plugins/bulk/decrypt/decrypting.ts';
import { s3Client } from '../support/object-store.ts';
import { storeKinds } from '../support/repetitions.ts';
import { runCommand } from '../support/run-command.ts';
import { startSvcProxy } from '../support/svc-proxy.ts';
import { temporaryFolder } from '../support/temporary.ts';
import type { SvcProxy } from '../support/types.ts';
import { requireTool } from '../testbed/ensure.ts';
import { type Bed, BUCKET, MiB, startBed } from './bed.ts';

export const timeout = 400_000;

interface Both {
  readonly bed: Bed;
  readonly older: SvcProxy;
  /** Of the proxy that writes format 1. */
  readonly olderClient: S3Client;
  readonly plaintexts: Map<string, Buffer>;
}

const segmentsOf = (size: number) => size + 16 * Math.ceil(size / 65_536);

/** Beside which no part list fits into the headers. */
const longMetadata = { own: 'x'.repeat(1700) };

async function upload(
  client: S3Client,
  Key: string,
  bodies: readonly Buffer[],
  Metadata: Record<string, string> = {},
): Promise<Buffer> {
  const at = { Bucket: BUCKET, Key };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...at, Metadata }));
  const Parts = [];
  for (const [index, Body] of bodies.entries()) {
    const PartNumber = index + 1;
    const { ETag } = await client.send(new UploadPartCommand({ ...at, UploadId, PartNumber, Body }));
    Parts.push({ PartNumber, ETag });
  }
  await client.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts } }));
  return Buffer.concat(bodies);
}

for (const store of storeKinds) {
  const test = suite<Both>(`format 2 as it ships, ${store}`);

  test.before(async (context) => {
    const bed = await startBed({ store, env: { SVC_PROXY_FORMAT: '2' } });
    const vault = { addr: bed.bao.url, token: await bed.bao.policyToken() };
    const older = await startSvcProxy({ vault, upstream: bed.store });
    Object.assign(context, { bed, older, olderClient: await s3Client(older.target), plaintexts: new Map() });
  });

  test.after(async ({ bed, older, olderClient }) => {
    olderClient?.destroy();
    await older?.stop();
    await bed?.stop();
  });

  const read = async (client: S3Client, Key: string, Range?: string): Promise<Buffer> => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key, Range }));
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  };

  test('objects of every form are written, and read by proxies of either format', async (context) => {
    const { bed, olderClient, plaintexts } = context;
    const put = async (client: S3Client, Key: string, Body: Buffer) => {
      await client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body, Metadata: { own: 'kept' } }));
      plaintexts.set(Key, Body);
    };
    for (const [key, size] of Object.entries({ empty: 0, small: 100, edge: 65_536, large: 9 * MiB + 1 }))
      await put(bed.client, key, bed.payload(size));
    await put(bed.client, 'folder/', Buffer.alloc(0));
    await put(olderClient, 'older', bed.payload(70_000));
    const parts = [5 * MiB, 5 * MiB + 1, 77].map((size) => bed.payload(size));
    plaintexts.set('inline', await upload(bed.client, 'inline', parts));
    plaintexts.set('pointer', await upload(bed.client, 'pointer', parts, longMetadata));
    plaintexts.set('of-nothing', await upload(bed.client, 'of-nothing', [Buffer.alloc(0)]));
    plaintexts.set('older-parts', await upload(olderClient, 'older-parts', parts));
    const copy = (from: string, Key: string) =>
      olderClient.send(new CopyObjectCommand({ Bucket: BUCKET, Key, CopySource: `${BUCKET}/${from}` }));
    for (const from of ['small', 'inline', 'empty']) {
      await copy(from, `copy-${from}`);
      plaintexts.set(`copy-${from}`, plaintexts.get(from) as Buffer);
    }
    for (const client of [bed.client, olderClient])
      for (const [key, body] of plaintexts) {
        assert.ok((await read(client, key)).equals(body), key);
        if (body.length < 100) continue;
        const [start, end] = [Math.floor(body.length / 2), Math.floor(body.length / 2) + 20];
        const range = await read(client, key, `bytes=${start}-${end}`);
        assert.ok(range.equals(body.subarray(start, end + 1)), `${key}, a range`);
      }
  });

  test('what lies in the store is ciphertext of the size that follows', async ({ bed, plaintexts }) => {
    for (const key of ['empty', 'small', 'edge', 'large', 'folder/', 'of-nothing']) {
      const { ContentLength, Metadata } = await bed.store.client.send(
        new HeadObjectCommand({ Bucket: BUCKET, Key: key }),
      );
      assert.is(ContentLength, segmentsOf((plaintexts.get(key) as Buffer).length), key);
      assert.is(Metadata?.['svc-algorithm'], 'AES-256-GCM-STREAM-64KiB', key);
    }
    for (const key of ['inline', 'pointer']) {
      const { Metadata } = await bed.store.client.send(new HeadObjectCommand({ Bucket: BUCKET, Key: key }));
      assert.is('parts' in JSON.parse(Metadata?.['svc-wrapped-dek'] ?? ''), key === 'inline', key);
    }
    assert.not.ok((await read(bed.store.client, 'large')).includes(bed.marker));
  });

  test('a range of a large object takes its segments alone', async ({ bed, plaintexts }) => {
    bed.log.clear();
    const range = await read(bed.client, 'large', 'bytes=4194300-4198395');
    assert.ok(range.equals((plaintexts.get('large') as Buffer).subarray(4_194_300, 4_198_396)));
    const gets = bed.log.matching('GET', /large/);
    assert.is(gets.length, 1);
    assert.is(gets[0]?.responseBytes, 2 * (65_536 + 16));
  });

  test('listings, too, are of plaintext', async ({ bed, olderClient, plaintexts }) => {
    for (const client of [bed.client, olderClient]) {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: BUCKET }));
      assert.equal(
        Contents.map(({ Key, Size }) => [Key, Size]).sort(),
        [...plaintexts].map(([key, { length }]) => [key, length]).sort(),
      );
    }
  });

  test('svc audit knows both formats', async ({ bed, plaintexts }) => {
    const { endpoint, region, accessKeyId, secretAccessKey } = bed.store;
    const ran = await runAudit(['--bucket', BUCKET, '--json', '--fail-on', 'error'], {
      ...{ SVC_PROXY_UPSTREAM: endpoint, AWS_REGION: region },
      ...{ AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
    });
    assert.is(ran.status, 0, ran.stdout + ran.stderr);
    const { tally } = JSON.parse(ran.stdout);
    assert.equal([tally.encrypted, tally.unreadable], [plaintexts.size, 0]);
    assert.equal(tally.algorithms, { 'AES-256-GCM': 2, 'AES-256-GCM-STREAM-64KiB': plaintexts.size - 2 });
  });

  const digests = (files: Iterable<readonly [string, Buffer]>) =>
    [...files].map(([name, bytes]) => `${name} ${createHash('sha256').update(bytes).digest('hex')}`).sort();

  test('svc proxy decrypt writes every plaintext', async ({ bed, plaintexts }) => {
    const folder = temporaryFolder('format-2');
    const vault = { addr: bed.bao.url, token: await bed.bao.policyToken() };
    const ran = await decrypt({ store: bed.store, vault }, `s3://${BUCKET}/`, folder.path, '--json');
    assert.is(ran.status, 0, ran.stdout + ran.stderr);
    assert.equal([reportOf(ran).faultCount, reportOf(ran).done], [0, plaintexts.size]);
    const files = [...filesBelow(folder.path)].filter(([name]) => !name.startsWith('%svc-decrypt'));
    assert.equal(digests(files), digests([...plaintexts].filter(([key]) => key !== 'folder/')));
    await folder.remove();
  });

  test('the reader in Python reads them with a key server', async ({ bed, plaintexts }) => {
    const folder = temporaryFolder('format-2-python');
    const [stored, plain] = [join(folder.path, 'stored'), join(folder.path, 'plain')];
    const { bins } = await requireTool('boto3');
    const { endpoint, region, accessKeyId, secretAccessKey } = bed.store;
    const args = ['-B', formatScript('fetch.py'), BUCKET, stored, '--endpoint-url', endpoint];
    const fetched = await runCommand(bins['python'] as string, args, folder.path, {
      env: {
        ...{ AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
        ...{ AWS_REGION: region, AWS_DEFAULT_REGION: region },
      },
    });
    assert.is(fetched.status, 0, fetched.stderr);
    const vault = { VAULT_ADDR: bed.bao.url, VAULT_TOKEN: await bed.bao.policyToken() };
    const ran = await readByPython([stored, '--to', plain, '--encrypted-only'], vault);
    assert.is(ran.status, 0, ran.stderr);
    const expected = [...plaintexts].map(
      ([key, body]) => [`${BUCKET}/${key.endsWith('/') ? `${key}%` : key}`, body] as const,
    );
    assert.equal(digests(filesBelow(plain)), digests(expected));
    await folder.remove();
  });

  test.run();
}
