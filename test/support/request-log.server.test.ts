import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCertificateAuthority } from './certificates.ts';
import { clientsFor } from './clients.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { http } from './http.ts';
import { s3Client } from './object-store.ts';
import { startRequestLog } from './request-log.ts';
import type { ObjectStore, RequestLog } from './types.ts';
import { startVersityGw } from './versitygw.ts';

const test = suite<{ store: ObjectStore; log: RequestLog }>('request log');

test.before(async (context) => {
  context.store = await startVersityGw();
  await context.store.createBucket('box');
  context.log = await startRequestLog(context.store.endpoint);
});

test.before.each(({ log }) => log.clear());

test.after(async ({ log, store }) => {
  await log?.stop();
  await store?.stop();
});

test('callers are served over TLS where an identity is given', async ({ store }) => {
  const authority = createCertificateAuthority();
  const tls = await startRequestLog(store.endpoint, authority.issue({ commonName: 'store' }));
  const { status } = await http(`${tls.url}/`, { ca: authority.cert });
  assert.equal([status, tls.requests.length], [403, 1]);
  await tls.stop();
});

test('signed requests pass and are written down with their bytes', async ({ store, log }) => {
  const client = await s3Client({ ...store, endpoint: log.url });
  await client.send(new PutObjectCommand({ Bucket: 'box', Key: 'k', Body: Buffer.alloc(10_000, 'x') }));
  const got = await client.send(new GetObjectCommand({ Bucket: 'box', Key: 'k', Range: 'bytes=0-2999' }));
  assert.is((await got.Body?.transformToByteArray())?.length, 3_000);
  assert.is(log.requests.length, 2);
  const [put, get] = log.requests;
  assert.match(put?.path ?? '', /^\/box\/k/);
  assert.is(put?.status, 200);
  assert.ok((put?.requestBytes ?? 0) >= 10_000);
  assert.is(get?.status, 206);
  assert.is(log.fetchedBytes(), 3_000);
  assert.is(log.matching('GET', /\/k/).length, 1);
  client.destroy();
});

test('a client that waits for 100 Continue is served', async ({ store, log }) => {
  const clients = clientsFor({ ...store, endpoint: log.url });
  const result = await clients.boto3("s3.put_object(Bucket='box', Key='c', Body=b'y' * 5000)");
  assert.is(result.status, 0, result.stderr);
  assert.is(log.requests[0]?.requestHeaders.expect, '100-continue');
  await clients.stop();
});

test('a store that cuts its answer is seen as cut', async ({ store }) => {
  const faults = await startFaultProxy(store.endpoint);
  const log = await startRequestLog(faults.url);
  const client = await s3Client({ ...store, endpoint: log.url });
  await client.send(new PutObjectCommand({ Bucket: 'box', Key: 'big', Body: Buffer.alloc(1_000_000) }));
  faults.cutAfter(500_000, 'to-client', 'reset');
  const got = await client.send(new GetObjectCommand({ Bucket: 'box', Key: 'big' }));
  const error = await got.Body?.transformToByteArray().catch((cause) => cause);
  assert.instance(error, Error);
  assert.is(log.matching('GET', /big/)[0]?.done, false);
  client.destroy();
  await log.stop();
  await faults.stop();
});

test.run();
