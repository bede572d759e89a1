import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Loopback, listen } from '../support/loopback.ts';
import { rawHttp } from '../support/raw-http.ts';
import { startSvcProxy } from '../support/svc-proxy.ts';
import type { SvcProxy } from '../support/types.ts';
import { Crowd } from './support/crowd.ts';

const test = suite('callers that are slow on purpose, and hold the memory that others wait for');
const KiB = 1024;
const MiB = 1024 * KiB;
/** Shorter than the time after which a request without memory is told to slow down. */
const maxAnswerMs = 17_000;

let store: Loopback;
let proxy: SvcProxy;

const listing = (keys: number) =>
  `<ListBucketResult><Name>bucket</Name><IsTruncated>false</IsTruncated>${`<Contents><Key>${'k'.repeat(5_000)}</Key></Contents>`.repeat(keys)}</ListBucketResult>`;

test.before(async () => {
  const server = createServer(async (request, response) => {
    request.resume();
    if (request.url?.startsWith('/slow')) await sleep(9_000);
    response.writeHead(200, { 'content-type': 'application/xml' });
    if (request.method === 'POST') response.end('<DeleteResult></DeleteResult>');
    else response.end(listing(request.url?.startsWith('/long') ? 1_600 : 1));
  });
  store = await listen(server);
  proxy = await startSvcProxy({
    upstream: { endpoint: store.url, region: 'eu-central-1', accessKeyId: 'a', secretAccessKey: 'b' },
    vault: { addr: 'http://127.0.0.1:9', token: 'none' },
    waitReady: false,
  });
});
test.after(async () => {
  await proxy?.stop();
  await store?.stop();
});

const object = '<Object><Key>a</Key><VersionId>v</VersionId></Object>';
const document = Buffer.from(`<Delete>${' '.repeat(20 * KiB)}${object}</Delete>`);
const deletion = (bytes: number) =>
  Buffer.from(`POST /bucket?delete HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${bytes}\r\n\r\n`);

/** Answers what an ordinary caller asks for, before it would be told to slow down. */
async function assertServed(path: string, body?: Buffer): Promise<void> {
  const begun = performance.now();
  const answer = await rawHttp(proxy.url + path, body === undefined ? {} : { method: 'POST', body });
  assert.is(answer.status, 200, answer.code);
  const took = performance.now() - begun;
  assert.ok(took < maxAnswerMs, `${took} ms`);
}

/** Does something with each connection every second, while `work` goes on. */
async function trickling(
  sockets: readonly Socket[],
  step: (socket: Socket) => void,
  work: () => Promise<void>,
): Promise<void> {
  const timer = setInterval(() => sockets.forEach(step), 1_000);
  try {
    await work();
  } finally {
    clearInterval(timer);
    for (const socket of sockets) socket.destroy();
  }
}

test('a document that arrives slowly is read to its end if nobody waits', async () => {
  const crowd = new Crowd(proxy.url);
  const socket = crowd.open();
  let answer = '';
  socket.on('data', (piece) => {
    answer += piece;
  });
  socket.write(Buffer.concat([deletion(document.length), document.subarray(0, 100)]));
  await sleep(7_000);
  socket.write(document.subarray(100));
  for (let tries = 0; tries < 100 && answer === ''; tries++) await sleep(100);
  assert.match(answer, /^HTTP\/1\.1 200 /);
  crowd.end();
});

test('documents that trickle give way to one that waits for their memory', async () => {
  const sockets = await new Crowd(proxy.url).established(8);
  for (const socket of sockets) socket.write(deletion(2 * MiB));
  await trickling(
    sockets,
    (socket) => void socket.write(' '),
    async () => {
      await sleep(500);
      await assertServed('/bucket?delete', document);
    },
  );
});

/** Faster than a caller that reads nothing. */
const readEachSecond = 48 * KiB;

test('callers that read long answers slowly give way to one that waits for their memory', async () => {
  const sockets = await new Crowd(proxy.url).established(8);
  for (const socket of sockets)
    socket.pause().write('GET /long?list-type=2 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  await trickling(
    sockets,
    (socket) => void (socket.read(readEachSecond) ?? socket.read()),
    async () => {
      await sleep(2_000);
      await assertServed('/bucket?list-type=2');
    },
  );
});

/** One more than there are connections. */
const maxConnections = 448;

test('callers that are refused, and send no body, keep no connection from others, and end no request', async () => {
  const crowd = new Crowd(proxy.url);
  const siege = () => {
    const socket = crowd.open();
    socket.resume().write('PUT /bucket/x HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 1000\r\n\r\n');
    socket.once('close', () => isSieged && setTimeout(siege, 50));
  };
  let isSieged = true;
  // its answer takes longer than a caller may be slow
  const waiting = rawHttp(`${proxy.url}/slow`);
  for (let count = 0; count < maxConnections + 30; count++) {
    siege();
    if (count % 20 === 0) await sleep(5);
  }
  try {
    for (let count = 0; count < 20; count++) {
      await assertServed('/bucket?list-type=2');
      await sleep(200);
    }
    assert.is((await waiting).status, 200);
  } finally {
    isSieged = false;
    crowd.end();
  }
});

test.run();
