import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { waitFor } from '../../../support/wait-for.ts';
import { writesOf, writesOfOthers } from './support/audit.ts';
import { startBed } from './support/bed.ts';
import { shown, startLoad } from './support/load.ts';

const test = suite('the leader stands still for longer than its lease');
export const timeout = 300_000;

const rounds = 3;
/** The lease is 15 s; the others try about every 2 s. */
const stillMs = 22_000;

let bed: Awaited<ReturnType<typeof startBed>>;

test.before(async () => {
  bed = await startBed({ replicas: 3, audit: true });
});

test.after(() => bed?.stop());

/** Something for leaders to write, all the time. */
async function churn(namespace: string, signal: AbortSignal): Promise<number> {
  const path = `/apis/svc.io/v1alpha1/namespaces/${namespace}/serviceconfigs`;
  await bed.kubernetes.must('POST', path, {
    ...{ apiVersion: 'svc.io/v1alpha1', kind: 'ServiceConfig', metadata: { name: 'busy' } },
    spec: { selector: { matchLabels: { app: 'busy' } }, vault: { role: 'app' }, secretPaths: ['secret/0'] },
  });
  let changes = 0;
  while (!signal.aborted) {
    await bed.kubernetes.must('PATCH', `${path}/busy`, { spec: { secretPaths: [`secret/${++changes}`] } });
    await sleep(50);
  }
  return changes;
}

test('another one takes over, and the former one writes nothing more when it goes on', async () => {
  const { kubernetes } = bed;
  const namespace = await kubernetes.createNamespace();
  const stop = new AbortController();
  const churning = churn(namespace, stop.signal);
  for (let round = 0; round < rounds; round++) {
    const former = await bed.leader();
    await sleep(3_000);
    process.kill(former.pid, 'SIGSTOP');
    const began = performance.now();
    const next = await waitFor('another leader', async () => {
      const leader = await bed.leader();
      return leader !== former && leader;
    });
    console.log(`${next.name} leads after ${((performance.now() - began) / 1_000).toFixed(1)} s`);
    await sleep(Math.max(0, stillMs - (performance.now() - began)));
    process.kill(former.pid, 'SIGCONT');
    await sleep(3_000);
    assert.is((await bed.leader()).name, next.name);
    assert.ok(former.events('leader.lost').length > 0);
  }
  stop.abort();
  const changes = await churning;
  const writes = writesOf(kubernetes);
  const others = writesOfOthers(writes);
  const leaders = new Set(writes.map(({ by }) => by)).size;
  console.log(
    `${changes} changes, ${writes.length} writes by ${leaders} leaders, ${others.length} by a former one`,
  );
  assert.ok(leaders > 1 && writes.length > changes / 20);
  assert.equal(others, []);
  const { metadata, status } = await waitFor('the status of the last change', async () => {
    const path = `/apis/svc.io/v1alpha1/namespaces/${namespace}/serviceconfigs/busy`;
    const config = await kubernetes.must('GET', path);
    return config.status?.observedGeneration === config.metadata.generation && config;
  });
  assert.is(status.observedGeneration, metadata.generation);
});

test('a replica that stands still delays admissions, and fails those that it had taken', async () => {
  const follower = bed.replicas.find(({ events }) => events('leader.began').length === 0) ?? bed.replicas[0];
  assert.ok(follower);
  const load = startLoad(bed.kubernetes, bed.namespace, 10);
  await sleep(2_000);
  process.kill(follower.pid, 'SIGSTOP');
  await sleep(4_000);
  process.kill(follower.pid, 'SIGCONT');
  await sleep(2_000);
  const tally = await load.stop();
  console.log(shown(tally));
  assert.equal(tally.failed, [], 'it was shorter than the time of an admission');
});

test.run();
