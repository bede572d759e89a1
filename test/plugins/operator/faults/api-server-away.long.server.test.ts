import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Pauseable } from '../../../support/kubernetes-control-plane.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createAdmissionClient, pod } from './support/admissions.ts';
import { admits, page, readyReplicas, startBed } from './support/bed.ts';

const test = suite('the API server, or its etcd, is away');
export const timeout = 300_000;

/** Longer than a term of the leader. */
const awayMs = 13_000;

let bed: Awaited<ReturnType<typeof startBed>>;

test.before(async () => {
  bed = await startBed({ replicas: 2 });
});

test.after(() => bed?.stop());

const servers: readonly [string, () => Pauseable][] = [
  ['the API server', () => bed.kubernetes],
  ['etcd', () => bed.kubernetes.etcd],
];

for (const [what, server] of servers) {
  test(`${what} ends for longer than a term, and everything goes on when it is back`, async () => {
    const { kubernetes, replicas } = bed;
    const former = await bed.leader();
    const lost = former.events('leader.lost').length;
    await server().pause();
    await sleep(awayMs);
    await waitFor('the end of the term', () => former.events('leader.lost').length > lost);
    for (const replica of replicas) assert.is((await page(replica, 'healthz')).status, 200);
    await readyReplicas(bed, replicas.length);
    await server().resume();
    const began = performance.now();
    await admits(kubernetes, bed.namespace);
    const admitted = performance.now() - began;
    await isKept();
    const kept = performance.now() - began;
    console.log(`${what}: admits ${admitted.toFixed(0)} ms, controls ${kept.toFixed(0)} ms after it is back`);
    for (const { pid } of replicas) assert.ok(process.kill(pid, 0), 'none has ended');
  });
}

/** A ServiceConfig that is made now takes effect. */
async function isKept(): Promise<void> {
  const { kubernetes } = bed;
  const namespace = await waitFor('a namespace', () => kubernetes.createNamespace());
  const path = `/apis/svc.io/v1alpha1/namespaces/${namespace}/serviceconfigs`;
  await kubernetes.must('POST', path, {
    ...{ apiVersion: 'svc.io/v1alpha1', kind: 'ServiceConfig', metadata: { name: 'new' } },
    spec: { selector: {}, vault: { role: 'app' }, secretPaths: ['secret/app'] },
  });
  await waitFor(
    'its status',
    async () => (await kubernetes.must('GET', `${path}/new`)).status?.observedGeneration,
  );
  const client = createAdmissionClient(kubernetes, namespace);
  await waitFor('a protected pod', async () => (await client.admit(pod())).injected).finally(client.close);
}

test.run();
