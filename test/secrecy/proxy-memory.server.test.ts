import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { uploadKeyLifeMs } from '../../src/objects/multipart/upload-keys.ts';
import { putParts } from '../attacks/support/stored.ts';
import { type KeyRecorder, startKeyRecorder } from '../support/key-recorder.ts';
import { type MtlsBroker, startMtlsBroker } from '../support/mtls-broker.ts';
import { repetitions } from '../support/repetitions.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import type { SvcProxyConfig } from '../support/types.ts';
import { fragmentSearch } from './support/fragments.ts';
import { scanMemory } from './support/memory-scan.ts';
import { Traffic } from './support/traffic.ts';

export const timeout = 300_000;

const test = suite('keys in the memory of the proxy');
const KiB = 1024;
const MiB = 1024 * KiB;
const planting = fileURLToPath(new URL('programs/keep-keys.mjs', import.meta.url));

let rig: Rig;
let recorder: KeyRecorder;
let tls: MtlsBroker;
/** A proxy of format 2, which keeps the key of an upload that is left open: a minute passes while others are tried. */
let keeping: UsedProxy;

test.before(async () => {
  rig = await startRig();
  recorder = await startKeyRecorder(rig.toVault.url);
  tls = await startMtlsBroker(recorder.url, undefined, 'anybody');
  keeping = await use({
    requests: 100,
    args: ['--format', '2'],
    vault: { addr: recorder.url, token: rig.token },
  });
});
test.after(async () => {
  await rig?.stop();
  await tls?.stop();
  await recorder?.stop();
});

/** Requests of all kinds, eight at a time, `count` in all. */
async function mixed(traffic: Traffic, count: number): Promise<void> {
  const bodies = [1, 3, 40, 100].map((size) => randomBytes(size * KiB));
  const name = (turn: number) => `mixed-${turn % 40}`;
  const body = (turn: number) => bodies[turn % bodies.length] as Buffer;
  const kinds: readonly ((turn: number) => Promise<unknown>)[] = [
    (turn) => traffic.call(name(turn), 'PUT', body(turn)),
    (turn) => traffic.call(name(turn), 'GET'),
    (turn) => traffic.call(name(turn), 'GET', undefined, { range: 'bytes=100-900' }),
    (turn) => traffic.call('parts', 'GET', undefined, { range: partRange(turn) }),
    (turn) =>
      traffic.call(`copy-${turn}`, 'PUT', undefined, { 'x-amz-copy-source': `/bucket/${name(turn)}` }),
    (turn) => traffic.call(name(turn), 'HEAD'),
    (turn) => traffic.call(name(turn), 'PUT', body(turn), { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' }),
    (turn) => traffic.call('missing', turn % 2 ? 'GET' : 'DELETE'),
    (turn) => traffic.call(`many-${turn}`, 'PUT', body(turn), { 'transfer-encoding': 'chunked' }),
    (turn) => traffic.completeWithChecksum(`summed-${turn}`, body(turn)),
    (turn) => traffic.abortParts(`aborted-${turn}`, 6, body(turn)),
    () => cut(traffic.address),
  ];
  let turn = 0;
  const worker = async () => {
    while (turn < count) {
      const mine = turn++;
      await kinds[mine % kinds.length]?.(mine >> 2);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** Mostly of the small last part, at times over a seam. */
function partRange(turn: number): string {
  return turn % 5 === 0 ? `bytes=${5 * MiB - 9}-${5 * MiB + turn}` : `bytes=${10 * MiB}-`;
}

/** An upload that ends in its middle, and a download that nobody reads. */
async function cut(address: string): Promise<void> {
  const { hostname: host, port } = new URL(address);
  for (const head of ['PUT /bucket/cut HTTP/1.1\r\nContent-Length: 999999', 'GET /bucket/large HTTP/1.1']) {
    const socket = connect(Number(port), host).on('error', () => undefined);
    socket.write(
      `${head}\r\nHost: ${host}:${port}\r\n\r\n${'x'.repeat(head.startsWith('PUT') ? 100_000 : 0)}`,
    );
    await setTimeout(30);
    socket.resetAndDestroy();
  }
}

/** Everything that found a key, in part or whole, in one of its forms. */
function keysIn(proxy: RiggedProxy): readonly string[] {
  const secrets = recorder.keys.map((bytes, index) => ({ name: `key ${index}`, bytes }));
  return scanMemory(proxy.pid, fragmentSearch(secrets)).found;
}

interface Course {
  readonly requests: number;
  readonly args: readonly string[];
  readonly vault: SvcProxyConfig['vault'];
}

interface UsedProxy {
  readonly proxy: RiggedProxy;
  /** When the last request had ended, as `performance.now()` counts. */
  readonly ended: number;
}

/** Starts a proxy that has served so many requests of all kinds, and has seen its key server fail. */
async function use({ requests, args, vault }: Course): Promise<UsedProxy> {
  const proxy = await rig.proxy({ args, vault });
  assert.match(readFileSync(`/proc/${proxy.pid}/limits`, 'latin1'), /^Max core file size +1 /m);
  const traffic = new Traffic(rig, proxy, randomBytes);
  const before = recorder.keys.length;
  await traffic.succeed();
  assert.is(await traffic.completeWithChecksum('summed', randomBytes(2000)), 200);
  await putParts(proxy.s3, rig.bucket, 'parts', [randomBytes(5 * MiB), randomBytes(5 * MiB), randomBytes(9)]);
  await mixed(traffic, requests / 2);
  await traffic.fail();
  await rig.bao.rotate();
  await rig.toVault.refuse();
  await mixed(traffic, 20);
  await rig.toVault.heal();
  await mixed(traffic, requests / 2);
  const ended = performance.now();
  const seen = recorder.keys.length - before;
  assert.ok(seen > requests / 5, `${seen} keys were seen`);
  return { proxy, ended };
}

async function assertNoneLeft({ proxy, ended }: UsedProxy, afterMs: number): Promise<void> {
  await setTimeout(Math.max(0, ended + afterMs - performance.now()));
  const found = keysIn(proxy);
  assert.is(
    found.length,
    0,
    `${found.length} finds:\n${found.slice(0, 20).join('\n')}\n${proxy.output().slice(-500)}`,
  );
  await proxy.stop();
}

const many = repetitions(200, 1_000);

test(`none is left 1000 ms after the last of ${many} requests (key server by TLS)`, async () => {
  const vault = { addr: tls.url, token: rig.token, caFile: tls.caFile };
  await assertNoneLeft(
    await use({ requests: many, args: ['--verify-buffer', '1MiB', '--strict'], vault }),
    1000,
  );
});

test('none is left 1000 ms after the last of 100 requests (key server by plain HTTP)', async () => {
  const vault = { addr: recorder.url, token: rig.token };
  await assertNoneLeft(await use({ requests: 100, args: ['--verify-buffer', '1MiB'], vault }), 1000);
});

test('the same search finds what a defect keeps', async () => {
  const proxy = await rig.proxy({
    vault: { addr: recorder.url, token: rig.token },
    nodeArgs: ['--import', planting],
  });
  const traffic = new Traffic(rig, proxy, randomBytes);
  await mixed(traffic, 20);
  await setTimeout(1000);
  assert.ok(keysIn(proxy).some((found) => /^key \d+ as raw: 32 bytes/.test(found)));
});

test('none is left when the key of an upload that was left open is kept no longer (objects of format 2)', () =>
  assertNoneLeft(keeping, uploadKeyLifeMs + 1000));

test.run();
