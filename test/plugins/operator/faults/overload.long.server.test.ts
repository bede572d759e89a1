import { Agent, request } from 'node:https';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { residentMemory } from '../../../support/process-memory.ts';
import { repetitions } from '../../../support/repetitions.ts';
import { createAdmissionClient, optedIn } from './support/admissions.ts';
import { admits, page, startBed } from './support/bed.ts';

const test = suite('more admissions at once than there should be');
export const timeout = 240_000;

const many = 500;
const throughApi = repetitions(200, many);
const mib = 1024 ** 2;
/** The bodies alone are 100 MB, as text and as objects several times that; a replica at rest has 100 MiB. */
const memoryBound = 300 * mib;

let bed: Awaited<ReturnType<typeof startBed>>;

test.before(async () => {
  bed = await startBed({ replicas: 1 });
});

test.after(() => bed?.stop());

const replica = () => bed.replicas[0] as (typeof bed.replicas)[0];

test(`${throughApi} through the API server are admitted, or turned away by it in time`, async () => {
  const client = createAdmissionClient(bed.kubernetes, bed.namespace, throughApi);
  const all = await Promise.all(Array.from({ length: throughApi }, () => client.admit()));
  client.close();
  const admitted = all.filter(({ injected }) => injected);
  const others = all.filter(({ injected, status }) => !injected && status !== 429);
  const slowest = Math.max(...all.map(({ ms }) => ms));
  console.log(
    `${admitted.length} of ${throughApi} admitted, ${others.length} failed, slowest ${slowest.toFixed(0)} ms`,
  );
  console.log(
    [...new Set(others.map(({ status, message }) => `${status} ${message}`))].slice(0, 5).join('\n'),
  );
  // on a machine that is short of processor time some run into the time of an admission
  for (const { message } of others)
    assert.match(message, /deadline exceeded|reset by peer|broken pipe|EOF|server closed idle connection/);
  assert.ok(admitted.length > throughApi * 0.9);
});

test('five hundred large pods at the replica itself are answered or broken off, within its memory', async () => {
  const agent = new Agent({ rejectUnauthorized: false, maxSockets: many });
  const padding = optedIn({ 'example.com/padding': 'x'.repeat(200_000) });
  const began = performance.now();
  const outcomes = await Promise.all(
    Array.from({ length: many }, () => review(agent, padding).catch(() => 'broken off')),
  );
  agent.destroy();
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  const { peak } = residentMemory(replica().pid);
  const changed = outcomes.filter((outcome) => outcome === true).length;
  console.log(`${changed} of ${many} changed in ${seconds} s, peak ${(peak / mib).toFixed(0)} MiB`);
  assert.ok(outcomes.every((outcome) => outcome === true || outcome === 'broken off'));
  assert.ok(changed > 0);
  assert.ok(peak < memoryBound, `peak ${(peak / mib).toFixed(0)} MiB`);
  assert.is((await page(replica(), 'readyz')).status, 200);
  await admits(bed.kubernetes, bed.namespace);
});

/** Whether the pod was changed. */
function review(agent: Agent, object: object): Promise<boolean> {
  const uid = crypto.randomUUID();
  const kind = { group: '', version: 'v1', kind: 'Pod' };
  const resource = { group: '', version: 'v1', resource: 'pods' };
  const body = JSON.stringify({
    ...{ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' },
    request: {
      ...{ uid, kind, resource, namespace: bed.namespace, operation: 'CREATE', dryRun: true },
      ...{ object: { apiVersion: 'v1', kind: 'Pod', ...object }, userInfo: { username: 'test' } },
    },
  });
  const url = `https://${replica().started['webhook']}/mutate?timeout=30s`;
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    request(url, { method: 'POST', agent, headers }, (response) => {
      response.toArray().then((chunks) => {
        const { response: answer } = JSON.parse(Buffer.concat(chunks).toString());
        resolve(answer.uid === uid && answer.allowed && answer.patch !== undefined);
      }, reject);
    })
      .once('error', reject)
      .end(body);
  });
}

test.run();
