import { connect } from 'node:net';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http } from '../../support/http.ts';
import { s3Client } from '../../support/object-store.ts';
import { startOpenBao } from '../../support/openbao.ts';
import { startSvcProxy } from '../../support/svc-proxy.ts';
import type { ObjectStore, OpenBao, S3Target, SvcProxy, SvcProxyConfig } from '../../support/types.ts';
import { startVersityGw } from '../../support/versitygw.ts';
import { waitFor } from '../../support/wait-for.ts';
import { elementOf, RawClient } from './support/serve.ts';

const test = suite('svc run proxy');

let bao: OpenBao;
let store: ObjectStore;
let token: string;
const started: SvcProxy[] = [];

test.before(async () => {
  [bao, store] = await Promise.all([startOpenBao(), startVersityGw()]);
  await bao.enableTransit();
  await store.createBucket('data');
  token = await bao.policyToken();
});
test.after(async () => {
  for (const proxy of started) await proxy.stop();
  await Promise.all([bao?.stop(), store?.stop()]);
});

async function start(config: Partial<SvcProxyConfig> = {}): Promise<SvcProxy> {
  const proxy = await startSvcProxy({ upstream: store, vault: { addr: bao.url, token }, ...config });
  started.push(proxy);
  return proxy;
}

async function failure(target: S3Target): Promise<string> {
  const client = await s3Client(target);
  try {
    await client.send(new PutObjectCommand({ Bucket: 'data', Key: 'forged', Body: 'x' }));
    return 'none';
  } catch (error) {
    return (error as Error).name;
  } finally {
    client.destroy();
  }
}

test('with keys of its own it serves who signs with them, and nobody else', async () => {
  const env = { SVC_PROXY_ACCESS_KEY_ID: 'AKCALLER', SVC_PROXY_SECRET_ACCESS_KEY: 'caller-secret' };
  const proxy = await start({ env });
  assert.is(await failure(proxy.target), 'none');
  assert.is(await failure({ ...proxy.target, accessKeyId: 'AKOTHER' }), 'InvalidAccessKeyId');
  assert.is(await failure({ ...proxy.target, secretAccessKey: 'wrong-secret' }), 'SignatureDoesNotMatch');
  const anonymous = await http(`${proxy.url}/data/forged`);
  assert.is(anonymous.status, 403);
  assert.not.match(proxy.output(), /caller-secret/);
});

test('without a login it listens and is not ready', async () => {
  const proxy = await start({ vault: { addr: bao.url, token: 's.wrong' }, waitReady: false });
  const readiness = await waitFor('a reason', async () => {
    const answer = await http(`${proxy.health}/readyz`);
    return answer.json?.reasons?.vault ? answer : undefined;
  });
  assert.is(readiness.status, 503);
  assert.is((await http(`${proxy.health}/healthz`)).status, 200);
  const put = await fetch(`${proxy.url}/data/never`, { method: 'PUT', body: 'plaintext' });
  assert.ok(put.status >= 500, String(put.status));
  assert.is((await fetch(`${proxy.url}/data/never`)).status, 404);
  assert.not.match(proxy.output(), /s\.wrong/);
});

test('a sealed key server is answered 503, nothing is stored, and it recovers by itself', async () => {
  const proxy = await start();
  await bao.seal();
  const sealed = await fetch(`${proxy.url}/data/sealed`, { method: 'PUT', body: 'plaintext' });
  assert.is(sealed.status, 503);
  assert.is(elementOf(await sealed.text(), 'Code'), 'ServiceUnavailable');
  await bao.unseal();
  assert.is((await fetch(`${proxy.url}/data/sealed`)).status, 404);
  const client = await s3Client(proxy.target);
  await client.send(new PutObjectCommand({ Bucket: 'data', Key: 'sealed', Body: 'hello' }));
  const { Body } = await client.send(new GetObjectCommand({ Bucket: 'data', Key: 'sealed' }));
  assert.is(await Body?.transformToString(), 'hello');
  client.destroy();
});

test('a request in flight is finished after SIGTERM, and no other connection is taken', async () => {
  const proxy = await start();
  const port = Number(new URL(proxy.url).port);
  const client = new RawClient(port);
  client.send(
    'PUT /data/draining HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n',
  );
  await client.until('100 Continue');
  const exit = proxy.kill('SIGTERM');
  await waitFor('the address to be given up', () => refused(port));
  client.send('0123456789');
  const received = await client.rest();
  assert.match(received, /HTTP\/1\.1 200 OK/);
  assert.match(received, /connection: close/i);
  assert.is((await exit).code, 0);
});

function refused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
    socket.once('connect', () => socket.destroy());
  });
}

test('neither tokens nor plaintext are in what it logs', async () => {
  const proxy = await start({ args: ['--log-level', 'debug'] });
  const client = await s3Client(proxy.target);
  await client.send(new PutObjectCommand({ Bucket: 'data', Key: 'quiet', Body: 'most-secret-plaintext' }));
  await client
    .send(new GetObjectCommand({ Bucket: 'data', Key: 'quiet' }))
    .then(({ Body }) => Body?.transformToString());
  client.destroy();
  const output = await waitFor(
    'access lines',
    () => /"operation":"GetObject"/.test(proxy.output()) && proxy.output(),
  );
  for (const secret of [token, store.secretAccessKey, 'most-secret-plaintext'])
    assert.not.ok(output.includes(secret));
});

test.run();
