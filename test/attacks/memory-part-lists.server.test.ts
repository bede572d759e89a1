import { randomBytes } from 'node:crypto';
import { createServer, request, type ServerResponse } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { PartEntry } from '../../src/objects/format/body-format.ts';
import { overheadBytes } from '../../src/objects/format/cipher.ts';
import { sealMac, serializePartList } from '../../src/objects/format/manifest.ts';
import { envelopeHeaders } from '../../src/objects/format/metadata.ts';
import { manifestKey } from '../../src/objects/format/records.ts';
import { createMemoryCgroup, type MemoryCgroup } from '../support/limit-cgroup.ts';
import { type Loopback, listen } from '../support/loopback.ts';
import { type RawAnswer, type RawCall, rawHttp } from '../support/raw-http.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import { waitFor } from '../support/wait-for.ts';

const test = suite('memory of the proxy while many objects of 10,000 parts are read');
const MiB = 1024 * 1024;
const objects = 128;
const partSize = 8 * MiB;
const manifest = randomBytes(16).toString('base64url');

let rig: Rig;
let cgroup: MemoryCgroup;
let store: Loopback;
let proxy: RiggedProxy;
/** Requests for an object's body that wait for it. */
let stalled = 0;

test.before(async () => {
  rig = await startRig();
  cgroup = createMemoryCgroup(128 * MiB);
  store = await startStore();
  const upstream = { endpoint: store.url, region: 'us-east-1', accessKeyId: 'a', secretAccessKey: 'b' };
  const env = { SVC_PROXY_BIND: 'none' };
  proxy = await rig.proxy({ upstream, env, under: cgroup.under, waitReady: false });
});
test.after(async () => {
  await proxy?.stop();
  await store?.stop();
  await cgroup?.remove();
  await rig?.stop();
});

/** Keys are bound to nothing here, so that one wrapped key serves all parts of all objects. */
async function wrapped(key: Uint8Array): Promise<string> {
  const plaintext = Buffer.from(key).toString('base64');
  return (await rig.bao.request('POST', 'transit/encrypt/svc', { plaintext })).json.data.ciphertext;
}

/**
 * A store with objects of 80 GB in 10,000 parts, each with a part list of its own. It never sends what is in them, as one that
 * is slow, or whose readers are.
 */
async function startStore(): Promise<Loopback> {
  const sealKey = randomBytes(32);
  const [dek, seal] = await Promise.all([wrapped(randomBytes(32)), wrapped(sealKey)]);
  const nonce = randomBytes(12).toString('base64');
  const parts = Array.from(
    { length: 10_000 },
    (_, at): PartEntry => ({ n: at + 1, dek, nonce, size: partSize }),
  );
  const list = { manifest, parts, seal, mac: sealMac(sealKey, manifest, parts) };
  const listText = serializePartList(list);
  const headers = envelopeHeaders({
    ...{ keyName: 'svc', keyVersion: 1, binding: 'none' },
    keys: { form: 'pointer', manifest, seal },
  });
  const names = new Map(
    Array.from({ length: objects }, (_, at) => {
      const name = { bucket: 'bucket', key: `object-${at}` };
      return [`/bucket/${manifestKey('.svc/', name, manifest)}`, name];
    }),
  );
  return listen(
    createServer((asked, response) => {
      const path = decodeURIComponent(asked.url?.split('?')[0] ?? '');
      const of = names.get(path);
      if (of !== undefined) {
        response.end(`{"v":1,"bucket":"${of.bucket}","key":"${of.key}","list":${listText}}`);
      } else if (/^\/bucket\/object-\d+$/.test(path)) {
        const length = parts.length * (partSize + overheadBytes);
        response.writeHead(200, { ...headers, 'content-length': String(length), etag: '"a-10000"' });
        if (asked.method === 'HEAD') response.end();
        else stall(response);
      } else {
        response.writeHead(404).end();
      }
    }),
  );
}

function stall(response: ServerResponse): void {
  response.flushHeaders();
  stalled++;
  response.once('close', () => stalled--);
}

const ask = (at: number, call: RawCall = {}) => rawHttp(`${proxy.url}/bucket/object-${at}`, call);
/** Requests that need a list, and none of a body. */
const askShort = (count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, at) => ask(at, { method: 'HEAD', headers: { range: 'bytes=5-9' } })),
  );
const told = ({ status, code }: RawAnswer) => `${status} ${code ?? ''}`.trim();

async function assertAlive(): Promise<void> {
  assert.is(cgroup.killed(), 0);
  assert.is((await rawHttp(`${proxy.health}/healthz`)).status, 200);
}

test('short requests for as many lists wait their turn', async () => {
  const answers = await askShort(24);
  await assertAlive();
  assert.equal([...new Set(answers.map(told))], ['206']);
});

/** A GET that its caller may leave. */
function read(at: number, leaving: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const sent = request(
      `${proxy.url}/bucket/object-${at}`,
      { agent: false, signal: leaving },
      (incoming) => {
        incoming.on('error', () => undefined).resume();
        resolve(String(incoming.statusCode));
      },
    );
    sent.on('error', () => resolve('broken')).end();
  });
}

test('reads that stand still hold few lists, and others are told to slow down', async () => {
  const leaving = new AbortController();
  const answers: string[] = [];
  for (let at = 0; at < objects; at++) void read(at, leaving.signal).then((status) => answers.push(status));
  await waitFor('those who wait for room to be answered', () => answers.length > objects - 20);
  await assertAlive();
  assert.equal([...new Set(answers)], ['503']);
  assert.ok(stalled >= 2, `${stalled} read on`);
  leaving.abort();
  await waitFor('the end of the others', () => stalled === 0);
  const after = await askShort(8);
  assert.equal([...new Set(after.map(told))], ['206']);
  await assertAlive();
});

test.run();
