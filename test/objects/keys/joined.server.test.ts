import { randomBytes } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startRequestLog } from '../../support/request-log.ts';
import { type Rig, type RiggedProxy, startRig } from '../../support/rig.ts';
import type { RequestLog } from '../../support/types.ts';

const objects = 32;
const parts = 40;

const test = suite('calls of the proxy to the key server');
let rig: Rig;
/** On the way to the key server. */
let asked: RequestLog;

test.before(async () => {
  rig = await startRig();
  rig.toVault.delay(40);
  asked = await startRequestLog(rig.toVault.url);
});
test.after(async () => {
  await asked?.stop();
  await rig?.stop();
});

/** Calls to encrypt and to decrypt for objects that are written, and then read, at the same time. */
async function callsOf({ s3 }: RiggedProxy): Promise<{ encrypt: number; decrypt: number }> {
  const bodies = Array.from({ length: objects }, () => randomBytes(100));
  const at = (n: number) => ({ Bucket: rig.bucket, Key: `object-${n}` });
  asked.clear();
  await Promise.all(bodies.map((Body, n) => s3.send(new PutObjectCommand({ ...at(n), Body }))));
  await Promise.all(
    bodies.map(async (body, n) => {
      const { Body } = await s3.send(new GetObjectCommand(at(n)));
      assert.ok(body.equals((await Body?.transformToByteArray()) ?? Buffer.alloc(0)));
    }),
  );
  const calls = (operation: RegExp) => asked.matching('POST', operation).length;
  return { encrypt: calls(/encrypt/), decrypt: calls(/decrypt/) };
}

test('they are joined while others are in flight', async () => {
  const proxy = await rig.proxy({ vault: { addr: asked.url, token: rig.token } });
  const { encrypt, decrypt } = await callsOf(proxy);
  assert.ok(encrypt <= objects / 2 && decrypt <= objects / 2, `${encrypt} and ${decrypt}`);
});

test('--join-key-calls=false: each object has its own', async () => {
  const vault = { addr: asked.url, token: rig.token };
  const proxy = await rig.proxy({ vault, args: ['--join-key-calls=false'] });
  const { encrypt, decrypt } = await callsOf(proxy);
  assert.ok(encrypt >= objects && decrypt >= objects, `${encrypt} and ${decrypt}`);
});

/** Calls to encrypt for the parts of one upload. */
async function callsOfParts({ s3 }: RiggedProxy): Promise<number> {
  const at = { Bucket: rig.bucket, Key: 'parts' };
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(at));
  asked.clear();
  for (let PartNumber = 1; PartNumber <= parts; PartNumber++)
    await s3.send(new UploadPartCommand({ ...at, UploadId, PartNumber, Body: randomBytes(100) }));
  const calls = asked.matching('POST', /encrypt/).length;
  await s3.send(new AbortMultipartUploadCommand({ ...at, UploadId }));
  return calls;
}

test('an upload of many parts gets its keys in batches', async () => {
  const proxy = await rig.proxy({ vault: { addr: asked.url, token: rig.token } });
  const calls = await callsOfParts(proxy);
  // The readiness of the proxy asks for a key now and then.
  assert.ok(calls >= 5 && calls <= 8, `${calls}`);
});

test('--join-key-calls=false: each part has its own', async () => {
  const vault = { addr: asked.url, token: rig.token };
  const proxy = await rig.proxy({ vault, args: ['--join-key-calls=false'] });
  const calls = await callsOfParts(proxy);
  assert.ok(calls >= parts, `${calls}`);
});

test.run();
