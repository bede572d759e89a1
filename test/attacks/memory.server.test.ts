import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createMemoryCgroup, type MemoryCgroup } from '../support/limit-cgroup.ts';
import { type Loopback, listen } from '../support/loopback.ts';
import { s3Client } from '../support/object-store.ts';
import { rawBytes, rawHttp } from '../support/raw-http.ts';
import { repetitions } from '../support/repetitions.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import { Crowd } from './support/crowd.ts';
import { createListenerCertificate } from './support/listener-certificate.ts';

const test = suite('memory of the proxy before a caller is known, and after');
const MiB = 1024 * 1024;
const room = 128 * MiB;
const callers = {
  SVC_PROXY_ACCESS_KEY_ID: 'AKCALLER',
  SVC_PROXY_SECRET_ACCESS_KEY: 'the-secret-of-the-callers',
};

const certificate = createListenerCertificate();

let rig: Rig;
let cgroup: MemoryCgroup;

test.before(async () => {
  rig = await startRig();
});
test.before.each(() => {
  cgroup = createMemoryCgroup(room);
});
test.after(async () => {
  await rig?.stop();
  await certificate.remove();
});

const head = (line: string, ...more: string[]): Buffer =>
  Buffer.from([`${line} HTTP/1.1`, 'Host: 127.0.0.1', ...more, '', ''].join('\r\n'));

/** 60 KiB of a head that never ends. */
const unfinished = Buffer.concat([
  head('GET /bucket/x').subarray(0, -2),
  Buffer.from('X-Junk: '),
  Buffer.alloc(60 * 1024, 'x'),
]);

const partList = Buffer.from(
  `<CompleteMultipartUpload>${'<Part><PartNumber>1</PartNumber><ETag>a</ETag></Part>'.repeat(150_000)}`,
).subarray(0, 8 * MiB);

/** A body that is announced and sent, up to its last byte. */
const body = (line: string, bytes: Buffer): Buffer =>
  Buffer.concat([head(line, `Content-Length: ${bytes.length + 1}`), bytes]);

const pipelined = Buffer.concat(Array.from({ length: 500 }, () => head('GET /bucket/good-1')));

const attacks: Readonly<Record<string, (crowd: Crowd) => Promise<void>>> = {
  'heads that never end': (crowd) => crowd.send(1_500, unfinished),
  'connections that say nothing': (crowd) => crowd.send(1_500, Buffer.alloc(0)),
  'requests that wait for no answer': (crowd) => crowd.send(125, pipelined),
  'part lists of 8 MiB': (crowd) => crowd.send(40, body('POST /bucket/x?uploadId=a', partList)),
  'part lists of 4 MiB': (crowd) =>
    crowd.send(40, body('POST /bucket/x?uploadId=a', partList.subarray(0, 4 * MiB - 1))),
  'lists of deletions': (crowd) =>
    crowd.send(40, body('POST /bucket?delete', partList.subarray(0, 2 * MiB - 1))),
  policies: (crowd) => crowd.send(100, body('PUT /bucket?policy', Buffer.alloc(MiB - 2, 'x'))),
  'uploads that stop': (crowd) => crowd.send(600, body('PUT /bucket/stopped', Buffer.alloc(60 * 1024))),
  'large uploads that stop': (crowd) => crowd.send(600, body('PUT /bucket/stopped', randomBytes(300 * 1024))),
};

/**
 * Puts and gets as an ordinary client does, which tries again when it is told to slow down or its connection ends; on a
 * busy machine more often than the SDK does unless told so.
 */
async function behave(proxy: RiggedProxy, until: AbortSignal): Promise<number> {
  const { GetObjectCommand, PutObjectCommand } = await import('@aws-sdk/client-s3');
  const s3 = await s3Client({ ...proxy.target, caFile: certificate.caFile }, 12);
  let served = 0;
  while (!until.aborted) {
    const at = { Bucket: rig.bucket, Key: `good-${served % 5}` };
    const Body = randomBytes(5_000);
    await s3.send(new PutObjectCommand({ ...at, Body }));
    const { Body: read } = await s3.send(new GetObjectCommand(at));
    assert.ok(Buffer.from((await read?.transformToByteArray()) ?? []).equals(Body));
    served++;
    await setTimeout(20);
  }
  s3.destroy();
  return served;
}

/**
 * Over TLS the attacks are the same, and where callers are authenticated they hold less: in the usual run with a share
 * of their connections, which still is more than are kept. There is then less time to be served in.
 */
const fewer = { share: repetitions(0.4, 1), rounds: repetitions(3, 10) };
const scenes = {
  'callers who are authenticated': { env: callers, ...fewer },
  anybody: { env: {}, share: 1, rounds: 10 },
  'anybody, over TLS': { env: certificate.env, ...fewer },
};

for (const [who, { env, share, rounds }] of Object.entries(scenes))
  test(`stays within 128 MiB whatever comes, and keeps serving (${who})`, async () => {
    const proxy = await rig.proxy({ env, under: cgroup.under });
    const health = () => rawHttp(`${proxy.health}/healthz`);
    const done = new AbortController();
    const good = behave(proxy, done.signal);
    good.catch(() => undefined);
    for (const [name, attack] of Object.entries(attacks)) {
      const crowd = new Crowd(proxy.url, share);
      await attack(crowd);
      await setTimeout(300);
      assert.is((await health()).status, 200, name);
      crowd.end();
    }
    done.abort();
    const served = await good;
    assert.ok(served > rounds, `${served} rounds`);
    assert.is(cgroup.killed(), 0);
    assert.ok(existsSync(`/proc/${proxy.pid}`));
    await proxy.stop();
    await cgroup.remove();
  });

test('stays within 128 MiB while uploads wait for their turn', async () => {
  const proxy = await rig.proxy({ under: cgroup.under });
  const crowd = new Crowd(proxy.url);
  for (let round = 0; round < repetitions(1, 2); round++) {
    await crowd.send(500, body('PUT /bucket/waits', randomBytes(MiB)));
    await setTimeout(3_500);
    assert.is((await rawHttp(`${proxy.health}/healthz`)).status, 200);
    crowd.end();
    await setTimeout(300);
  }
  assert.is(cgroup.killed(), 0);
  await proxy.stop();
  await cgroup.remove();
});

const chunksOfOneByte = Buffer.concat([
  head('PUT /bucket/chunked', 'Transfer-Encoding: chunked'),
  Buffer.from(`${'1\r\nx\r\n'.repeat(80_000)}0\r\n\r\n`),
]);

test('stays within 128 MiB while bodies come in chunks of one byte', async () => {
  const proxy = await rig.proxy({ under: cgroup.under });
  const answers = await Promise.all(Array.from({ length: 20 }, () => rawBytes(proxy.url, chunksOfOneByte)));
  assert.is(cgroup.killed(), 0);
  assert.equal([...new Set(answers.map(({ status }) => status))], [200]);
  await proxy.stop();
  await cgroup.remove();
});

const signature = 'a'.repeat(64);

/** Bodies in aws-chunked chunks of one byte, whose decoded length nobody announces. */
const awsChunks: Readonly<
  Record<string, { readonly mode: string; readonly chunk: string; readonly end: string }>
> = {
  unsigned: { mode: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER', chunk: '1\r\nx\r\n', end: '0\r\n\r\n' },
  signed: {
    mode: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
    chunk: `1;chunk-signature=${signature}\r\nx\r\n`,
    end: `0;chunk-signature=${signature}\r\n\r\n`,
  },
};

for (const format of ['1', '2'])
  for (const [name, { mode, chunk, end }] of Object.entries(awsChunks))
    test(`stays within 128 MiB while ${name} chunks of one byte come (format ${format})`, async () => {
      const proxy = await rig.proxy({ args: ['--format', format], under: cgroup.under });
      const sent = (bytes: number) => Buffer.from(chunk.repeat(bytes) + end);
      const put = (key: string, bytes: Buffer) =>
        Buffer.concat([
          head(`PUT /bucket/${key}`, `x-amz-content-sha256: ${mode}`, `Content-Length: ${bytes.length}`),
          bytes,
        ]);
      const crowd = new Crowd(proxy.url);
      for (let at = 0; at < 16; at++)
        await crowd.send(1, put(`stops-${at}`, sent(65_000)).subarray(0, -end.length));
      await setTimeout(3_000);
      assert.is((await rawHttp(`${proxy.health}/healthz`)).status, 200);
      assert.is(cgroup.killed(), 0);
      crowd.end();
      for (const bytes of [0, 1, 100_000]) {
        assert.is((await rawBytes(proxy.url, put('whole', sent(bytes)))).status, 200);
        const { body: read } = await rawHttp(`${proxy.url}/bucket/whole`);
        assert.is(read.toString(), 'x'.repeat(bytes));
      }
      assert.is(cgroup.killed(), 0);
      await proxy.stop();
      await cgroup.remove();
    });

const longKeys = Array.from({ length: 1_000 }, (_, index) => `${'&amp;'.repeat(1_000)}${index}`);
const entry = `<Size>33</Size><ETag>"${'a'.repeat(32)}"</ETag><StorageClass>STANDARD</StorageClass>`;
const listing = Buffer.from(
  `<ListBucketResult><Name>bucket</Name><KeyCount>1000</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>${longKeys
    .map((key) => `<Contents><Key>${key}</Key>${entry}</Contents>`)
    .join('')}</ListBucketResult>`,
);

/** Answers listings as a store does whose keys are as long as they may be, 5 MB each, or as one that lies. */
const startListingStore = (answer: () => Buffer = () => listing): Promise<Loopback> =>
  listen(
    createServer(({ method }, response) => {
      response.writeHead(200, { 'content-type': 'application/xml' });
      response.end(method === 'GET' ? answer() : undefined);
    }),
  );

test('stays within 128 MiB while many ask for the longest listings and do not read them', async () => {
  const store = await startListingStore();
  const upstream = { endpoint: store.url, region: 'us-east-1', accessKeyId: 'a', secretAccessKey: 'b' };
  const proxy = await rig.proxy({ upstream, under: cgroup.under, waitReady: false });
  await rawHttp(`${proxy.url}/bucket?list-type=2`);
  const crowd = new Crowd(proxy.url);
  await crowd.send(repetitions(40, 100), head('GET /bucket?list-type=2'));
  await setTimeout(3_000);
  assert.is((await rawHttp(`${proxy.health}/healthz`)).status, 200);
  crowd.end();
  const answers = await Promise.all(
    Array.from({ length: repetitions(6, 12) }, () => rawHttp(`${proxy.url}/bucket?list-type=2`)),
  );
  assert.is(cgroup.killed(), 0);
  const seen = answers.map(
    ({ status, body }) => `${status} of ${body.length > 4 * MiB ? 'all' : body.length}`,
  );
  assert.equal([...new Set(seen)], ['200 of all']);
  await store.stop();
  await proxy.stop();
  await cgroup.remove();
});

const filled = (root: string, piece: string, bytes: number) =>
  Buffer.from(`<${root}>${piece.repeat(Math.floor(bytes / piece.length) - 10)}</${root}>`);

const lies: Readonly<Record<string, () => Buffer>> = {
  'empty entries': () => filled('ListBucketResult', '<Part/>', 8 * MiB),
  checksums: () => filled('ListBucketResult', '<ChecksumA/>', 8 * MiB),
  'short keys': () => filled('ListBucketResult', '<Contents><Key>a</Key></Contents>', 8 * MiB),
  'as many short keys as are taken': () =>
    Buffer.from(
      `<ListBucketResult>${'<Contents><Key/><Size>1</Size></Contents>'.repeat(10_000)}</ListBucketResult>`,
    ),
  attributes: () => Buffer.from(`<ListBucketResult${' a=""'.repeat(1.6 * MiB)}/>`),
};

test('stays within 128 MiB while the store answers with listings that take many times their size', async () => {
  let lie: Buffer = listing;
  const store = await startListingStore(() => lie);
  const upstream = { endpoint: store.url, region: 'us-east-1', accessKeyId: 'a', secretAccessKey: 'b' };
  const proxy = await rig.proxy({ upstream, under: cgroup.under, waitReady: false });
  for (const [name, make] of Object.entries(lies)) {
    lie = make();
    const asked = Array.from({ length: repetitions(12, 20) }, () =>
      rawHttp(`${proxy.url}/bucket?list-type=2`),
    );
    const seen = new Set((await Promise.all(asked)).map(({ status }) => status));
    assert.ok(
      [...seen].every((status) => status === 500 || status === 200),
      `${name}: ${[...seen]}`,
    );
    assert.is(cgroup.killed(), 0, name);
  }
  await proxy.stop();
  await store.stop();
  await cgroup.remove();
});

test.run();
