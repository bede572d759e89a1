import { createHmac, randomBytes } from 'node:crypto';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type LogLine, logLines } from '../../../support/log-lines.ts';
import { rawHttp } from '../../../support/raw-http.ts';
import { type Rig, type RiggedProxy, startRig } from '../../../support/rig.ts';
import { waitFor } from '../../../support/wait-for.ts';

const test = suite('access log');
const callers = { SVC_PROXY_ACCESS_KEY_ID: 'AKCALLER', SVC_PROXY_SECRET_ACCESS_KEY: 'the-secret-of-callers' };

let rig: Rig;

test.before(async () => {
  rig = await startRig();
});
test.after(() => rig?.stop());

async function lines(proxy: RiggedProxy, count: number): Promise<LogLine[]> {
  const found = () => logLines(proxy.output(), 'proxy.access');
  await waitFor(`${count} lines`, () => found().length >= count);
  return found();
}

const seen = ({ caller, operation, bucket, key, status, code, received, sent, keyVersion }: LogLine) =>
  JSON.parse(JSON.stringify({ caller, operation, bucket, key, status, code, received, sent, keyVersion }));

test('a line a request says who did what, how it ended, and by which version of the key', async () => {
  const proxy = await rig.proxy({ env: { ...callers, SVC_PROXY_ACCESS_LOG: 'plain' } });
  const at = { Bucket: rig.bucket, Key: 'a/b' };
  await proxy.s3.send(
    new PutObjectCommand({ ...at, Body: 'plaintext of the object', ChecksumAlgorithm: undefined }),
  );
  const read = await proxy.s3.send(new GetObjectCommand(at));
  await read.Body?.transformToString();
  await proxy.s3.send(new GetObjectCommand({ ...at, Key: 'none' })).catch(() => undefined);
  const listed = await proxy.s3.send(new ListObjectsV2Command({ Bucket: rig.bucket }));
  assert.is(listed.KeyCount, 1);
  assert.is((await rawHttp(`${proxy.url}/${rig.bucket}/a`)).status, 403);
  const { UploadId } = await proxy.s3.send(new CreateMultipartUploadCommand({ ...at, Key: 'parts' }));
  const part = { ...at, Key: 'parts', UploadId };
  const { ETag } = await proxy.s3.send(
    new UploadPartCommand({ ...part, PartNumber: 1, Body: randomBytes(100_000) }),
  );
  await proxy.s3.send(
    new CompleteMultipartUploadCommand({ ...part, MultipartUpload: { Parts: [{ PartNumber: 1, ETag }] } }),
  );
  const all = await lines(proxy, 8);
  const [put, get, missing, list, refused, , uploaded] = all.map(seen);
  const common = { caller: 'AKCALLER', bucket: rig.bucket, status: 200 };
  assert.ok(put.received >= 23);
  assert.equal(
    { ...put, received: 23 },
    { ...common, operation: 'PutObject', key: 'a/b', received: 23, sent: 0, keyVersion: 1 },
  );
  assert.equal(get, { ...common, operation: 'GetObject', key: 'a/b', received: 0, sent: 23, keyVersion: 1 });
  assert.is(missing.status, 404);
  assert.equal([list.operation, list.key], ['ListObjectsV2', undefined]);
  assert.equal(
    [refused.caller, refused.status, refused.code, refused.bucket],
    [null, 403, 'AccessDenied', undefined],
  );
  assert.equal([uploaded.operation, uploaded.keyVersion], ['UploadPart', 1]);
  for (const { requestId, milliseconds } of all) {
    assert.match(String(requestId), /^[0-9A-F]{16}$/);
    assert.ok(Number(milliseconds) > 0);
  }
  assert.not.match(proxy.output(), 'plaintext of the object');
  await proxy.stop();
});

test('hashed: no object key is in it, and equal keys look equal in one bucket', async () => {
  const secret = 'a-secret-of-the-hash';
  const env = { SVC_PROXY_ACCESS_LOG: 'hashed', SVC_PROXY_ACCESS_LOG_SECRET: secret };
  const proxy = await rig.proxy({ env });
  const at = { Bucket: rig.bucket, Key: 'name-of-a-patient' };
  await proxy.s3.send(new PutObjectCommand({ ...at, Body: 'x' }));
  await (await proxy.s3.send(new GetObjectCommand(at))).Body?.transformToString();
  const [put, get] = await lines(proxy, 2);
  const hash = createHmac('sha256', secret).update(`${rig.bucket}/${at.Key}`).digest('hex').slice(0, 32);
  assert.equal([put?.['keyHash'], get?.['keyHash'], put?.['caller']], [hash, hash, null]);
  assert.not.match(proxy.output(), at.Key);
  assert.not.match(proxy.output(), secret);
  await proxy.stop();
});

test('without being asked for there is none', async () => {
  const proxy = await rig.proxy();
  await proxy.s3.send(new ListObjectsV2Command({ Bucket: rig.bucket }));
  await proxy.stop();
  assert.not.match(proxy.output(), 'proxy.access');
});

test.run();
