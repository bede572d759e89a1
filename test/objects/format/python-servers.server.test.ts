import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bed, BUCKET, MiB, startBed } from '../../clients/bed.ts';
import { runCommand } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { requireTool } from '../../testbed/ensure.ts';
import { filesBelow, formatScript, readByPython } from './python-reader.ts';

const test = suite<{ bed: Bed }>('what the proxy wrote, read by the reader in Python');

test.before(async (context) => {
  context.bed = await startBed();
});

test.after(async ({ bed }) => {
  await bed?.stop();
});

async function upload({ client, payload }: Bed, Key: string, numbers: readonly number[]): Promise<Buffer> {
  const at = { Bucket: BUCKET, Key };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(at));
  const bodies = numbers.map((_, index) => payload(index === numbers.length - 1 ? 1000 : 5 * MiB));
  const Parts = [];
  for (const [index, PartNumber] of numbers.entries()) {
    const Body = bodies[index] as Buffer;
    const { ETag } = await client.send(new UploadPartCommand({ ...at, UploadId, PartNumber, Body }));
    Parts.push({ PartNumber, ETag });
  }
  await client.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts } }));
  return Buffer.concat(bodies);
}

/** Writes one object of each form. @returns plaintexts by where `read.py` puts them */
async function write(bed: Bed): Promise<ReadonlyMap<string, Buffer>> {
  const put = async (Key: string, Body: Buffer) => {
    await bed.client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body, Metadata: { own: 'kept' } }));
    return Body;
  };
  const objects = [
    ['empty', await put('empty', Buffer.alloc(0))],
    ['a%3Ab/small', await put('a:b/small', bed.payload(1))],
    ['large.bin', await put('large.bin', bed.payload(3 * MiB + 1))],
    [
      '%C3%B6dd "\\\' +&%25'.replaceAll('"', '%22').replaceAll('\\', '%5C'),
      await put('ödd "\\\' +&%', bed.payload(99)),
    ],
    ['folder/%', await put('folder/', Buffer.alloc(0))],
    ['inline', await upload(bed, 'inline', [2, 7])],
    [
      'manifest',
      await upload(
        bed,
        'manifest',
        Array.from({ length: 8 }, (_, index) => index * 3 + 1),
      ),
    ],
  ] as const;
  return new Map(objects.map(([name, body]) => [`${BUCKET}/${name}`, body]));
}

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const digests = (files: ReadonlyMap<string, Buffer>) =>
  [...files].map(([name, bytes]) => `${name} ${bytes.length} ${digest(bytes)}`).sort();

test('objects of each form, fetched past the proxy, come out byte for byte', async ({ bed }) => {
  const written = await write(bed);
  const folder = temporaryFolder('format');
  const [stored, plain] = [join(folder.path, 'stored'), join(folder.path, 'plain')];
  const { bins } = await requireTool('boto3');
  const { endpoint, region, accessKeyId, secretAccessKey } = bed.store;
  const fetched = await runCommand(
    bins['python'] as string,
    ['-B', formatScript('fetch.py'), BUCKET, stored, '--endpoint-url', endpoint],
    folder.path,
    {
      env: {
        AWS_ACCESS_KEY_ID: accessKeyId,
        AWS_SECRET_ACCESS_KEY: secretAccessKey,
        AWS_REGION: region,
        AWS_DEFAULT_REGION: region,
      },
    },
  );
  assert.is(fetched.status, 0, fetched.stderr);
  const files = [...filesBelow(stored).values()];
  for (const form of [
    '"vault:v1:',
    '"{\\"v\\":1,\\"manifest\\":\\"',
    '\\"parts\\":[{\\"n\\":2,',
    '"svc-empty-seal": ',
  ])
    assert.ok(
      files.some((bytes) => bytes.includes(form)),
      form,
    );
  assert.not.ok(
    files.some((bytes) => bytes.includes(bed.marker)),
    'it is ciphertext',
  );
  const vault = { VAULT_ADDR: bed.bao.url, VAULT_TOKEN: await bed.bao.policyToken() };
  const read = await readByPython([stored, '--to', plain, '--encrypted-only'], vault);
  assert.is(read.status, 0, read.stderr);
  assert.equal(digests(filesBelow(plain)), digests(written));
  const refused = await readByPython([stored, '--to', plain], { ...vault, VAULT_TOKEN: 'wrong' });
  assert.is(refused.status, 2, 'a key server that refuses is no fault of the objects');
  await bed.bao.rotate();
  await bed.bao.request('POST', 'transit/keys/svc/config', { exportable: true });
  const keys = join(folder.path, 'transit-key.json');
  writeFileSync(keys, (await bed.bao.request('GET', 'transit/export/encryption-key/svc')).text);
  const alone = await readByPython([stored, '--to', join(folder.path, 'alone'), '--keys', keys]);
  assert.is(alone.status, 0, `without a key server: ${alone.stderr}`);
  assert.equal(digests(filesBelow(join(folder.path, 'alone'))), digests(written));
  await folder.remove();
});

test.run();
