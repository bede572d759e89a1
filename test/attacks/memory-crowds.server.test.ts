import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createMemoryCgroup } from '../support/limit-cgroup.ts';
import { rawBytes, rawHttp } from '../support/raw-http.ts';
import { repetitions } from '../support/repetitions.ts';
import { type Rig, startRig } from '../support/rig.ts';
import { Crowd } from './support/crowd.ts';
import { createListenerCertificate } from './support/listener-certificate.ts';

const test = suite('memory of the proxy while all its connections hold what they may');
const MiB = 1024 * 1024;
const certificate = createListenerCertificate();
const keys = {
  SVC_PROXY_ACCESS_KEY_ID: 'AKCALLER',
  SVC_PROXY_SECRET_ACCESS_KEY: 'the-secret-of-the-callers',
};
const kinds = { http: {}, TLS: certificate.env };

let rig: Rig;

test.before(async () => {
  rig = await startRig();
  const proxy = await rig.proxy();
  const { PutObjectCommand } = await import('@aws-sdk/client-s3');
  await proxy.s3.send(
    new PutObjectCommand({ Bucket: rig.bucket, Key: 'large', Body: randomBytes(16 * MiB) }),
  );
  await proxy.stop();
});
test.after(async () => {
  await rig?.stop();
  await certificate.remove();
});

const head = (line: string, ...more: string[]): Buffer =>
  Buffer.from([`${line} HTTP/1.1`, 'Host: 127.0.0.1', ...more, '', ''].join('\r\n'));

/** Distinct headers that together fill a head. */
const headers = (count: number): string[] => {
  const value = 'v'.repeat(Math.floor((15 * 1024) / count) - 8);
  return Array.from({ length: count }, (_, index) => `h${index.toString(36)}: ${value}`);
};

const repeated = (count: number, bytes: Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, () => bytes));

interface Scene {
  readonly sent: Buffer;
  readonly env?: Readonly<Record<string, string>>;
}

/** What each of 512 connections sends, which then neither sends nor reads anything more. */
const scenes: Readonly<Record<string, Scene>> = {
  'a head of 990 headers': { sent: head('GET /bucket/large', ...headers(990)) },
  'a head of 125 headers': { sent: head('GET /bucket/large', ...headers(125)) },
  'eight heads of 60 headers, one behind the other': {
    sent: repeated(8, head('GET /bucket/large', ...headers(60))),
  },
  'a head of 125 headers without a signature, and no body': {
    sent: head('PUT /bucket/x', 'Content-Length: 1000', ...headers(125)),
    env: keys,
  },
  'a request for a large object': { sent: head('GET /bucket/large') },
  'a request for a large object, and another that is refused': {
    sent: Buffer.concat([head('GET /bucket/large'), head(`GET /bucket/${'&'.repeat(3_060)}`)]),
  },
  'the beginning of an upload': {
    sent: Buffer.concat([head('PUT /bucket/x', 'Content-Length: 5000000'), Buffer.alloc(MiB, 1)]),
  },
};

/** Over which of the two each killed a proxy; the others are for the nightly run. */
const usual = new Set([
  'http: a head of 990 headers',
  'TLS: a head of 125 headers',
  'http: eight heads of 60 headers, one behind the other',
  'TLS: a head of 125 headers without a signature, and no body',
  'TLS: a request for a large object',
  'http: a request for a large object, and another that is refused',
  'TLS: the beginning of an upload',
]);
const isWanted = (name: string) => repetitions(usual.has(name) ? 1 : 0, 1) > 0;

for (const [what, { sent, env }] of Object.entries(scenes))
  for (const [kind, listener] of Object.entries(kinds).filter(([kind]) => isWanted(`${kind}: ${what}`)))
    test(`stays within 128 MiB while 512 connections over ${kind} sent ${what}`, async () => {
      const cgroup = createMemoryCgroup(128 * MiB);
      const proxy = await rig.proxy({ env: { ...env, ...listener }, under: cgroup.under });
      const crowd = new Crowd(proxy.url);
      for (const socket of await crowd.established(512)) socket.pause().write(sent);
      for (let look = 0; look < 8; look++) {
        await setTimeout(500);
        assert.is((await rawHttp(`${proxy.health}/healthz`)).status, 200);
      }
      crowd.end();
      assert.is(cgroup.killed(), 0);
      await proxy.stop();
      await cgroup.remove();
    });

/** 40,000 requests on each connection, of which two may be in progress. */
const pipelined: Readonly<Record<string, Buffer>> = {
  'small requests': Buffer.from('GET / HTTP/1.1\r\nHost:\r\n\r\n'.repeat(40_000)),
  'requests without a host': Buffer.from('GET / HTTP/1.1\r\n\r\n'.repeat(40_000)),
  'requests with an unknown expectation': Buffer.from(
    'GET / HTTP/1.1\r\nHost:\r\nExpect: x\r\n\r\n'.repeat(40_000),
  ),
};

for (const [kind, listener] of Object.entries(kinds))
  test(`stays within 128 MiB while callers over ${kind} and of its health pipeline small requests`, async () => {
    const cgroup = createMemoryCgroup(128 * MiB);
    const proxy = await rig.proxy({ env: { ...keys, ...listener }, under: cgroup.under });
    for (const url of [proxy.url, proxy.health])
      for (const [what, requests] of Object.entries(pipelined)) {
        const crowd = new Crowd(url);
        for (const socket of await crowd.established(60)) socket.pause().write(requests);
        await setTimeout(1_000);
        assert.is((await rawHttp(`${proxy.health}/healthz`)).status, 200, what);
        crowd.end();
      }
    assert.is(cgroup.killed(), 0);
    await proxy.stop();
    await cgroup.remove();
  });

test('refuses a head of more than 128 headers, and leaves out none of fewer', async () => {
  const proxy = await rig.proxy();
  const answerTo = async (count: number): Promise<string> => {
    const request = head('GET /bucket/large', ...headers(count), 'Range: bytes=0-3');
    return (await rawBytes(proxy.url, request)).text;
  };
  assert.match(await answerTo(126), /^HTTP\/1\.1 206 /);
  for (const count of [127, 990]) assert.match(await answerTo(count), /RequestHeaderSectionTooLarge/);
  await proxy.stop();
});

test.run();
