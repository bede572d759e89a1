import { randomBytes } from 'node:crypto';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bench, bucket, startBench, type TestProxy } from '../read/support/bench.ts';
import { get } from '../read/support/client.ts';

const test = suite('records of parts of format 2 that a store has changed');
let bench: Bench;
let proxy: TestProxy;

test.before(async () => {
  bench = await startBench();
  proxy = await bench.proxy({ format: 2 });
});
test.after(() => bench?.stop());

/** The key of the one record, in its fields: upload, number, ETag, checksum, salt, size, commitment, sealed checksums. */
async function recordOf(): Promise<string[]> {
  const { Contents = [] } = await bench.store.client.send(
    new ListObjectsV2Command({ Bucket: bucket, Prefix: '.svc/uploads/' }),
  );
  const key = Contents.map(({ Key = '' }) => Key).find((each) => each.includes('/00001/')) ?? '';
  return key.slice('.svc/uploads/'.length).split('/');
}

async function replace(fields: readonly string[], changed: readonly string[]): Promise<void> {
  const at = (parts: readonly string[]) => ({ Bucket: bucket, Key: `.svc/uploads/${parts.join('/')}` });
  await bench.store.client.send(new PutObjectCommand({ ...at(changed), Body: Buffer.alloc(0) }));
  await bench.store.client.send(new DeleteObjectCommand(at(fields)));
}

const changes: Readonly<Record<string, (fields: readonly string[]) => string[]>> = {
  salt: (fields) => fields.with(4, randomBytes(32).toString('base64url')),
  size: (fields) => fields.with(5, String(Number(fields[5]) + 1)),
  commitment: (fields) => fields.with(6, `2.${randomBytes(32).toString('base64url')}`),
};

for (const [what, change] of Object.entries(changes))
  test(`another ${what} is refused before the object exists`, async () => {
    const at = { Bucket: bucket, Key: `changed-${what}` };
    const { UploadId } = await proxy.client.send(new CreateMultipartUploadCommand(at));
    const part = { ...at, UploadId, PartNumber: 1, Body: randomBytes(1000) };
    const { ETag } = await proxy.client.send(new UploadPartCommand(part));
    const fields = await recordOf();
    const complete = new CompleteMultipartUploadCommand({
      ...{ ...at, UploadId },
      MultipartUpload: { Parts: [{ PartNumber: 1, ETag }] },
    });
    const changed = change(fields);
    await replace(fields, changed);
    await proxy.client.send(complete).then(
      () => assert.unreachable('it was completed'),
      (error: Error) => assert.is(error.name, 'InternalError'),
    );
    assert.is((await get(proxy, at.Key)).status, 404);
    await replace(changed, fields);
    await proxy.client.send(complete);
    assert.ok((await get(proxy, at.Key)).body.equals(part.Body));
  });

test.run();
