import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { partRecordKey, uploadPrefix } from '../../src/objects/format/records.ts';
import { lyingEnvelope, manifestPointer, wrappedKey } from '../support/envelope-headers.ts';
import { createMemoryCgroup, type MemoryCgroup } from '../support/limit-cgroup.ts';
import { type Loopback, listen } from '../support/loopback.ts';
import { type RawAnswer, rawHttp } from '../support/raw-http.ts';
import { startSvcProxy } from '../support/svc-proxy.ts';
import type { SvcProxy } from '../support/types.ts';

const test = suite('answers of a store and a key server that lie, to as many requests as ended a proxy');
const MiB = 1024 * 1024;
const reserved = '.svc/';
/** How long a lie stays unfinished, so that all of them are held at once. */
const unfinishedMs = 2_000;

let store: Loopback;
let keyServer: Loopback;
let cgroup: MemoryCgroup;
let proxy: SvcProxy;
let keyServerLies = false;

test.before(async () => {
  store = await listen(createServer((asked, response) => void answer(asked, response)));
  keyServer = await listen(createServer((asked, response) => void wrap(asked, response)));
  cgroup = createMemoryCgroup(128 * MiB);
  proxy = await startSvcProxy({
    upstream: { endpoint: store.url, region: 'us-east-1', accessKeyId: 'a', secretAccessKey: 'b' },
    vault: { addr: keyServer.url, token: 'any' },
    args: ['--join-key-calls=false'],
    under: cgroup.under,
    waitReady: false,
  });
});
test.after(async () => {
  await proxy?.stop();
  await store?.stop();
  await keyServer?.stop();
  await cgroup?.remove();
});

async function bodyOf(asked: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of asked) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Sends the beginning of an answer, and its end when all others have begun. */
async function tell(response: ServerResponse, beginning: Buffer, end = ''): Promise<void> {
  response.on('error', () => undefined).write(beginning);
  await sleep(unfinishedMs);
  response.end(end);
}

/** A key server, of a key at a time, that wraps by encoding. */
async function wrap(asked: IncomingMessage, response: ServerResponse): Promise<void> {
  const { plaintext, ciphertext } = JSON.parse((await bodyOf(asked)).toString() || '{}');
  response.setHeader('content-type', 'application/json');
  if (keyServerLies && plaintext !== undefined) return tell(response, longAnswer, '"}}');
  const data = { ttl: 0, ciphertext: `vault:v1:${plaintext}`, plaintext: ciphertext?.split(':')[2] };
  response.end(JSON.stringify({ data }));
}

const longAnswer = Buffer.from(`{"data":{"ciphertext":"${'a'.repeat(8 * MiB - 100)}`);

/** What the proxy wrote. */
const kept = new Map<string, Buffer>();

async function answer(asked: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname: path, searchParams: query } = new URL(asked.url ?? '', store.url);
  const body = await bodyOf(asked);
  const lie = lies[path.split('/')[1] ?? ''];
  if (asked.method === 'PUT') {
    kept.set(decodeURIComponent(path), body);
    response.setHeader('etag', '"e"').end();
  } else if (lie !== undefined) await lie({ path, query, asked, response });
  else response.writeHead(404).end();
}

interface Telling {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly asked: IncomingMessage;
  readonly response: ServerResponse;
}

/** By bucket. */
const lies: Readonly<Record<string, (telling: Telling) => Promise<void>>> = {
  async manifests({ path, response }) {
    if (path.includes('/.svc/')) return tellManifest(response);
    response.writeHead(200, { ...lyingEnvelope(manifestPointer), 'content-length': '1000' });
    response.end(Buffer.alloc(1_000));
  },
  async heads({ asked: { socket } }) {
    socket.on('error', () => undefined).write(head);
    await sleep(unfinishedMs);
    socket.end(Buffer.alloc(1_000));
  },
  async blanks({ path, query, asked, response }) {
    const [key = '', stored] = [path.split('/').at(-1), kept.get(decodeURIComponent(path))];
    if (query.has('uploads')) return void response.end(initiated(key));
    if (query.has('list-type')) return void response.end(recordOf(query.get('prefix') ?? ''));
    if (query.has('uploadId') && asked.method === 'POST') return tell(response, blanks, completed);
    if (stored !== undefined) return void response.end(stored);
    response.writeHead(404).end();
  },
};

/** A manifest of 5 MiB, whose text takes twice that for the sake of one character. */
const wideManifest = Buffer.concat([
  Buffer.from('{"v":1,"bucket":"manifests","key":"€'),
  Buffer.alloc(5 * MiB - 100, 'a'),
]);
let manifests = 0;

/** Where they are read one after the other, each is soon over. */
async function tellManifest(response: ServerResponse): Promise<void> {
  manifests++;
  response.once('close', () => manifests--);
  response.writeHead(200, { 'content-length': wideManifest.length + 2 });
  response.on('error', () => undefined).write(wideManifest);
  await sleep(200);
  if (manifests > 2) await sleep(unfinishedMs);
  response.end('"}');
}

const head = Buffer.from(
  `HTTP/1.1 200 OK\r\n${Array.from({ length: 10_500 }, (_, at) => `${at.toString(36).padStart(3, '0')}:\r\n`).join('')}content-length: 1000\r\n\r\n`,
);

const blanks = Buffer.alloc(MiB - 1_000, ' ');
const completed = '<CompleteMultipartUploadResult><ETag>"e"</ETag></CompleteMultipartUploadResult>';
const initiated = (id: string) =>
  `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`;
const etag = 'e'.repeat(32);
const nonce = randomBytes(12).toString('base64');

/** A listing of the one part of the upload that this prefix is of. */
function recordOf(prefix: string): string {
  const id = uploads.find((upload) => prefix.startsWith(uploadPrefix(reserved, upload))) ?? '';
  const key = partRecordKey(reserved, id, { part: { n: 1, size: 100, dek: wrappedKey, nonce }, etag });
  return `<ListBucketResult><Contents><Key>${key}</Key><Size>0</Size></Contents></ListBucketResult>`;
}

const uploads = Array.from({ length: 120 }, (_, at) => `upload-${at}`);

const atOnce = (count: number, ask: (at: number) => Promise<RawAnswer>): Promise<RawAnswer[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => ask(at)));

/** Every request got this code, whatever the status before it, and the proxy lives. */
async function judge(answers: readonly RawAnswer[], code: string | undefined): Promise<void> {
  assert.is(cgroup.killed(), 0);
  const codes = answers.map(({ body }) => /<Code>(\w+)/.exec(body.toString())?.[1]);
  assert.equal([...new Set(codes)], [code]);
  assert.is((await rawHttp(`${proxy.health}/healthz`)).status, 200);
}

test('24 manifests of 5 MiB with one wide character', async () => {
  await judge(await atOnce(24, (at) => rawHttp(`${proxy.url}/manifests/${at}`)), 'InternalError');
});

test('90 heads of 63 KB with 10,501 names', async () => {
  await judge(await atOnce(90, (at) => rawHttp(`${proxy.url}/heads/${at}`)), 'ServiceUnavailable');
});

test('120 results of a Complete behind a megabyte of blanks', async () => {
  const at = (upload: number) => `${proxy.url}/blanks/${uploads[upload]}`;
  await judge(await atOnce(120, (one) => rawHttp(`${at(one)}?uploads`, { method: 'POST' })), undefined);
  const body = Buffer.from(
    `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part></CompleteMultipartUpload>`,
  );
  const complete = (one: number) => rawHttp(`${at(one)}?uploadId=${uploads[one]}`, { method: 'POST', body });
  await judge(await atOnce(120, complete), 'InternalError');
});

test('90 answers of 8 MiB of the key server', async () => {
  keyServerLies = true;
  const put = (at: number) => rawHttp(`${proxy.url}/any/${at}`, { method: 'PUT', body: Buffer.from('x') });
  await judge(await atOnce(90, put), 'ServiceUnavailable');
});

test.run();
