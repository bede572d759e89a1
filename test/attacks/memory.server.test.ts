import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createMemoryCgroup, type MemoryCgroup } from '../support/memory-cgroup.ts';
import { rawHttp } from '../support/raw-http.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';

const test = suite('memory of the proxy before a caller is known, and after');
const MiB = 1024 * 1024;
const room = 128 * MiB;
const callers = {
  SVC_PROXY_ACCESS_KEY_ID: 'AKCALLER',
  SVC_PROXY_SECRET_ACCESS_KEY: 'the-secret-of-the-callers',
};

let rig: Rig;
let cgroup: MemoryCgroup;

test.before(async () => {
  rig = await startRig();
});
test.before.each(() => {
  cgroup = createMemoryCgroup(room);
});
test.after(() => rig?.stop());

/** Connections of somebody who means harm; what becomes of them does not matter. */
class Crowd {
  readonly #address: { readonly host: string; readonly port: number };
  readonly #sockets = new Set<Socket>();

  constructor(url: string) {
    const { hostname: host, port } = new URL(url);
    this.#address = { host, port: Number(port) };
  }

  /** @param bytes what each sends, and then no more */
  async send(count: number, bytes: Buffer): Promise<void> {
    for (let left = count; left > 0; left--) {
      const socket = connect(this.#address);
      this.#sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
      socket.write(bytes);
      if (left % 20 === 0) await setTimeout(5);
    }
  }

  end(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

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

const attacks: Readonly<Record<string, (crowd: Crowd) => Promise<void>>> = {
  'heads that never end': (crowd) => crowd.send(1_500, unfinished),
  'connections that say nothing': (crowd) => crowd.send(1_500, Buffer.alloc(0)),
  'part lists of 8 MiB': (crowd) => crowd.send(40, body('POST /bucket/x?uploadId=a', partList)),
  'part lists of 4 MiB': (crowd) =>
    crowd.send(40, body('POST /bucket/x?uploadId=a', partList.subarray(0, 4 * MiB - 1))),
  'lists of deletions': (crowd) =>
    crowd.send(40, body('POST /bucket?delete', partList.subarray(0, 2 * MiB - 1))),
  policies: (crowd) => crowd.send(100, body('PUT /bucket?policy', Buffer.alloc(MiB - 2, 'x'))),
  'uploads that stop': (crowd) => crowd.send(600, body('PUT /bucket/stopped', Buffer.alloc(60 * 1024))),
  'large uploads that stop': (crowd) => crowd.send(600, body('PUT /bucket/stopped', randomBytes(300 * 1024))),
};

/** Puts and gets as an ordinary client does, which tries again when it is told to slow down or its connection ends. */
async function behave(proxy: RiggedProxy, until: AbortSignal): Promise<number> {
  const { GetObjectCommand, PutObjectCommand } = await import('@aws-sdk/client-s3');
  let served = 0;
  while (!until.aborted) {
    const at = { Bucket: rig.bucket, Key: `good-${served % 5}` };
    const Body = randomBytes(5_000);
    await proxy.s3.send(new PutObjectCommand({ ...at, Body }));
    const { Body: read } = await proxy.s3.send(new GetObjectCommand(at));
    assert.ok(Buffer.from((await read?.transformToByteArray()) ?? []).equals(Body));
    served++;
    await setTimeout(20);
  }
  return served;
}

for (const [who, env] of Object.entries({ 'callers who are authenticated': callers, anybody: {} }))
  test(`stays within 128 MiB whatever comes, and serves on (${who})`, async () => {
    const proxy = await rig.proxy({ env, under: cgroup.under });
    const health = () => rawHttp(`${proxy.health}/healthz`);
    const done = new AbortController();
    const good = behave(proxy, done.signal);
    good.catch(() => undefined);
    const peaks: Record<string, number> = {};
    for (const [name, attack] of Object.entries(attacks)) {
      const crowd = new Crowd(proxy.url);
      await attack(crowd);
      await setTimeout(300);
      peaks[name] = Math.round(proxy.rss().peak / MiB);
      assert.is((await health()).status, 200, name);
      crowd.end();
    }
    done.abort();
    const served = await good;
    assert.ok(served > 10, `${served} rounds`);
    assert.is(cgroup.killed(), 0);
    assert.ok(existsSync(`/proc/${proxy.pid}`));
    assert.ok(proxy.rss().peak < room, JSON.stringify(peaks));
    await proxy.stop();
    await cgroup.remove();
  });

test.run();
