import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bed, BUCKET, sha256, startBed } from '../../../clients/bed.ts';
import { s3Client } from '../../../support/object-store.ts';
import { startRequestLog } from '../../../support/request-log.ts';
import { startSvcProxy } from '../../../support/svc-proxy.ts';
import type { BulkSetting } from '../bulk-command.ts';
import {
  beginRewrap,
  keyConfig,
  put,
  read,
  rewrap,
  rewrapResult,
  startConditionalStore,
} from './rewrapping.ts';

interface Context {
  readonly bed: Bed;
  readonly setting: BulkSetting;
}

const test = suite<Context>('svc proxy rewrap beside writers, and killed');

test.before(async (context) => {
  const bed = await startBed();
  const vault = { addr: bed.bao.url, token: await bed.bao.policyToken() };
  Object.assign(context, { bed, setting: { store: bed.store, vault } });
});

test.after(async ({ bed }) => {
  await bed?.stop();
});

test('what somebody writes meanwhile is never lost', async ({ bed, setting }) => {
  const last = new Map<string, Buffer>();
  const write = async (key: string) => {
    const [, body] = await put(client, key, bed.payload(2000));
    last.set(key, body);
  };
  const met = new Set<string>();
  const relay = await startConditionalStore(bed.store, async (key) => {
    if (!key.endsWith('0') || met.has(key)) return;
    met.add(key);
    await write(key);
  });
  const upstream = { ...bed.store, endpoint: relay.url };
  const proxy = await startSvcProxy({ vault: setting.vault, upstream });
  const client = await s3Client(proxy.target);
  let running = true;
  let writes = 0;
  try {
    const keys = Array.from({ length: 150 }, (_, index) => `race/${index}`);
    for (const key of keys) await write(key);
    await bed.bao.rotate();
    const writer = async (own: readonly string[]) => {
      for (let index = 0; running; index++, writes++) await write(own[index % own.length] as string);
    };
    const busy = keys.slice(0, 40);
    const writers = [0, 1].map((number) => writer(busy.filter((_, index) => index % 2 === number)));
    const own = { store: upstream, vault: setting.vault };
    const report = rewrapResult(await rewrap(own, `s3://${BUCKET}/race/`, '--into', 'headers', '--json'));
    running = false;
    await Promise.all(writers);
    assert.is(report.faultCount, 0, JSON.stringify(report.faults));
    assert.ok(report.copied >= 90 && report.complete, JSON.stringify(report));
    assert.ok(met.size >= 11 && writes > 0, `${met.size} writes in between, ${writes} beside`);
    for (const [key, body] of last) assert.is(sha256(await read(client, key)), sha256(body), key);
  } finally {
    running = false;
    client.destroy();
    await proxy.stop();
    await relay.stop();
  }
});

test('killed at any time it goes on where it was', async ({ bed, setting }) => {
  const objects = new Map<string, Buffer>();
  for (let index = 100; index < 160; index++)
    objects.set(...(await put(bed.client, `kill/${index}`, bed.payload(500))));
  await bed.bao.rotate();
  const relay = await startConditionalStore(bed.store);
  const log = await startRequestLog(relay.url);
  try {
    const own = { ...setting, store: { ...setting.store, endpoint: log.url } };
    for (const [enough, write] of [
      [10, 'headers'],
      [10, 'records'],
      [30, 'headers'],
    ] as const) {
      log.clear();
      const child = await beginRewrap(own, `s3://${BUCKET}/kill/`, '--into', write, '--concurrency', '2');
      const done = () => log.requests.filter(({ method, done }) => method === 'PUT' && done).length;
      await child.until('writes', () => done() >= enough);
      await child.end('SIGKILL');
      await Promise.all(
        [...objects].map(async ([key, body]) => assert.equal(await read(bed.client, key), body)),
      );
    }
    const report = rewrapResult(await rewrap(own, `s3://${BUCKET}/kill/`, '--json'));
    assert.ok(report.complete);
    assert.is(report.current + report.copied, 60);
    assert.ok(report.current >= 10 && report.copied > 0, JSON.stringify(report));
    await keyConfig(bed, 'svc', { min_decryption_version: report.target.keyVersion });
    for (const [key, body] of objects) assert.equal(await read(bed.client, key), body);
  } finally {
    await keyConfig(bed, 'svc', { min_decryption_version: 1 });
    await log.stop();
    await relay.stop();
  }
});

test.run();
