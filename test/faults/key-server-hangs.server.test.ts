import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MiB, putParts, sendParts, type UploadedParts } from '../attacks/support/stored.ts';
import { http } from '../support/http.ts';
import { logLines } from '../support/log-lines.ts';
import { type RawAnswer, type RawCall, rawHttp } from '../support/raw-http.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import { waitFor } from '../support/wait-for.ts';

export const idle = true;

const test = suite('a key server that hangs');
let rig: Rig;
const timeoutMs = 2_000;
/** Far below what clients and the proxy's own attempts would take, and far above what a busy machine adds. */
const boundMs = 2 * timeoutMs;
const parts = [randomBytes(5 * MiB), randomBytes(2 * MiB)];

test.before(async () => {
  rig = await startRig();
});
test.after(() => rig?.stop());

interface Timed extends RawAnswer {
  readonly took: number;
}

class Caller {
  readonly proxy: RiggedProxy;
  upload: UploadedParts | undefined;

  constructor(proxy: RiggedProxy) {
    this.proxy = proxy;
  }

  async store(): Promise<void> {
    await this.put('kept');
    await putParts(this.proxy.s3, rig.bucket, 'in-parts', parts);
    this.upload = await sendParts(
      this.proxy.s3,
      rig.bucket,
      'open',
      Array.from({ length: 4 }, () => randomBytes(10)),
    );
  }

  readonly put = (key: string) => this.timed(key, { method: 'PUT', body: randomBytes(1_000) });
  readonly get = (key: string) => this.timed(key);
  readonly range = () =>
    this.timed('in-parts', { headers: { range: `bytes=${5 * MiB - 5}-${5 * MiB + 4}` } });
  readonly part = (number: number) =>
    this.timed(`open?partNumber=${number}&uploadId=${this.upload?.UploadId}`, {
      method: 'PUT',
      body: randomBytes(1_000),
    });
  readonly copy = () =>
    this.timed('copy', {
      method: 'PUT',
      headers: { 'x-amz-copy-source': `/${rig.bucket}/in-parts` },
    });

  /** One of each kind that needs a key. */
  each(): Promise<Timed[]> {
    return Promise.all([
      this.put('small'),
      this.get('kept'),
      this.range(),
      this.part(49),
      this.part(50),
      this.copy(),
      this.timed('open-too?uploads', { method: 'POST' }),
    ]);
  }

  async timed(path: string, call: RawCall = {}): Promise<Timed> {
    const begun = performance.now();
    const answer = await rawHttp(`${this.proxy.url}/${rig.bucket}/${path}`, call);
    return { ...answer, took: performance.now() - begun };
  }

  /** How often the log has that event. */
  count(event: string): number {
    return logLines(this.proxy.output(), event).length;
  }

  readonly ready = async () => (await http(`${this.proxy.health}/readyz`)).status === 200;

  async hangs(): Promise<string | undefined> {
    const { text } = await http(`${this.proxy.health}/metrics`);
    return /^svc_proxy_key_server_hangs (\d)$/m.exec(text)?.[1];
  }
}

const told = ({ status, code }: RawAnswer) => `${status} ${code}`;

/** OpenBao accepts connections, and says nothing. It goes on afterwards, whatever comes of the test. */
async function whileStopped(action: () => Promise<void>): Promise<void> {
  process.kill(rig.bao.pid, 'SIGSTOP');
  try {
    await waitFor('its threads to stand still', () =>
      threadStates(rig.bao.pid).every((state) => state === 'T'),
    );
    await action();
  } finally {
    process.kill(rig.bao.pid, 'SIGCONT');
  }
}

const threadStates = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).map((id) =>
    readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .charAt(0),
  );

for (const joined of ['true', 'false'])
  test(`every request is answered in time, then fast, and served again (joined calls: ${joined})`, async () => {
    const env = { SVC_PROXY_VAULT_TIMEOUT: `${timeoutMs}ms`, SVC_PROXY_JOIN_KEY_CALLS: joined };
    const proxy = await rig.proxy({ env, vault: { addr: rig.bao.url, token: rig.token } });
    const caller = new Caller(proxy);
    await caller.store();
    await whileStopped(async () => {
      for (const round of ['before it is noticed', 'after'])
        for (const [kind, answer] of (await caller.each()).entries()) {
          assert.is(told(answer), '503 ServiceUnavailable', `${round} ${kind}`);
          assert.ok(answer.took < boundMs, `${round} ${kind}: ${answer.took} ms`);
        }
      const crowd = Array.from({ length: 50 }, (_, n) => (n % 2 ? caller.get('kept') : caller.put(`c${n}`)));
      const answers = await Promise.all(crowd);
      assert.equal([...new Set(answers.map(told))], ['503 ServiceUnavailable']);
      assert.ok(answers.every(({ took }) => took < boundMs));
      assert.ok(answers.filter(({ took }) => took < timeoutMs).length >= 49, 'fail fast');
      assert.is(await caller.ready(), false);
      assert.is(await caller.hangs(), '1');
    });
    await waitFor('a PUT that is served', async () => (await caller.put('after')).status === 200);
    await waitFor('readiness', caller.ready);
    assert.is(await caller.hangs(), '0');
    assert.equal((await caller.get('in-parts')).body, Buffer.concat(parts));
    assert.is((await caller.part(5)).status, 200);
    assert.equal([caller.count('vault.hangs'), caller.count('vault.answers')], [1, 1]);
    assert.is(caller.count('proxy.vault.unavailable'), 0);
    await proxy.stop();
  });

test.run();
