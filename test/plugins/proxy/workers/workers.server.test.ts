import { readFileSync } from 'node:fs';
import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http } from '../../../support/http.ts';
import { s3Client } from '../../../support/object-store.ts';
import { startOpenBao } from '../../../support/openbao.ts';
import { startSvcProxy } from '../../../support/svc-proxy.ts';
import type { ObjectStore, OpenBao, SvcProxy } from '../../../support/types.ts';
import { startVersityGw } from '../../../support/versitygw.ts';
import { waitFor } from '../../../support/wait-for.ts';

const test = suite('several workers');

let bao: OpenBao;
let store: ObjectStore;
let proxy: SvcProxy;
let s3: S3Client;

test.before(async () => {
  [bao, store] = await Promise.all([startOpenBao(), startVersityGw()]);
  await bao.enableTransit();
  await store.createBucket('data');
  const vault = { addr: bao.url, token: await bao.policyToken() };
  proxy = await startSvcProxy({ upstream: store, vault, args: ['--workers', '2'] });
  s3 = await s3Client(proxy.target);
});
test.after(async () => {
  s3?.destroy();
  await proxy?.stop();
  await Promise.all([bao?.stop(), store?.stop()]);
});

const children = (): number[] =>
  readFileSync(`/proc/${proxy.pid}/task/${proxy.pid}/children`, 'utf8')
    .split(' ')
    .filter(Boolean)
    .map(Number);

const roundTrip = async (Key: string) => {
  await s3.send(new PutObjectCommand({ Bucket: 'data', Key, Body: Key }));
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'data', Key }));
  assert.is(await Body?.transformToString(), Key);
};

async function requestsCounted(): Promise<number> {
  const { text } = await http(`${proxy.health}/metrics`);
  const lines = text.split('\n').filter((line) => line.startsWith('svc_proxy_requests_total{'));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

test('they serve one address and are counted together', async () => {
  assert.is(children().length, 2);
  for (let index = 0; index < 10; index++) await roundTrip(`k${index}`);
  assert.is(await requestsCounted(), 20);
});

test('one that dies is replaced', async () => {
  const [victim = 0, other] = children();
  process.kill(victim, 'SIGKILL');
  await waitFor('another worker', () => {
    const now = children();
    return now.length === 2 && !now.includes(victim);
  });
  assert.ok(children().includes(other ?? 0), 'the other one stays');
  await waitFor('readiness', async () => (await http(`${proxy.health}/readyz`)).status === 200);
  for (let index = 0; index < 6; index++) await roundTrip(`again${index}`);
  assert.match(proxy.output(), /"event":"proxy.worker.died"/);
});

test('they end together, and orderly', async () => {
  const workers = children();
  const { code } = await proxy.kill('SIGTERM');
  assert.is(code, 0);
  for (const pid of workers) assert.throws(() => process.kill(pid, 0), /ESRCH/);
});

test.run();
