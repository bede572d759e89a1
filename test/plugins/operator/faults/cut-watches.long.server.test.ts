import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startFaultProxy } from '../../../support/fault-proxy.ts';
import type { Replica } from '../../../support/operator-cluster.ts';
import type { FaultProxy } from '../../../support/types.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createAdmissionClient, pod } from './support/admissions.ts';
import { page, startBed, withdraw } from './support/bed.ts';

const test = suite('connections to the API server go silent');
export const timeout = 500_000;

/** A watch is asked to end after two minutes at most, and has fifteen seconds more. */
const noticedMs = 135_000 + 60_000;

let bed: Awaited<ReturnType<typeof startBed>>;
let relay: FaultProxy;
let cut: Replica;

test.before(async () => {
  bed = await startBed({ replicas: 1 });
  relay = await startFaultProxy(bed.kubernetes.url);
  cut = await bed.add({ server: relay.url });
});

test.after(async () => {
  await bed?.stop();
  await relay?.stop();
});

test('a replica leads no longer, notices, says so, and knows everything once they are back', async () => {
  const { kubernetes } = bed;
  const [first] = bed.replicas;
  assert.ok(first);
  await first.end('SIGTERM');
  await waitFor('the other leader', async () => (await bed.leader()) === cut);
  relay.hang();
  const began = performance.now();
  const seconds = () => ((performance.now() - began) / 1_000).toFixed(1);
  await waitFor('the end of its term', () => cut.events('leader.lost').length > 0);
  console.log(`leads no longer after ${seconds()} s`);
  const namespace = await kubernetes.createNamespace();
  await kubernetes.apply({
    ...{ apiVersion: 'svc.io/v1alpha1', kind: 'ServiceConfig', metadata: { name: 'late', namespace } },
    spec: { selector: {}, vault: { role: 'app' }, secretPaths: ['secret/app'] },
  });
  const told = await waitFor(
    'the complaint',
    async () => {
      const { text } = await page(cut, 'healthz');
      return /watch\.serviceconfigs/.test(text) && text;
    },
    { timeoutMs: noticedMs },
  );
  console.log(`says so after ${seconds()} s: ${told}`);
  await relay.heal();
  const healed = performance.now();
  await waitFor('no complaint', async () => (await page(cut, 'healthz')).text.includes('"ok"'));
  await waitFor('what was made meanwhile', async () => {
    const { status } = await kubernetes.must(
      'GET',
      `/apis/svc.io/v1alpha1/namespaces/${namespace}/serviceconfigs/late`,
    );
    return status?.conditions?.some(
      ({ type, status }: Record<string, string>) => type === 'Ready' && status === 'True',
    );
  });
  console.log(`knows everything ${((performance.now() - healed) / 1_000).toFixed(1)} s after they were back`);
  const client = createAdmissionClient(kubernetes, namespace);
  assert.ok((await client.admit(pod())).injected);
  client.close();
  await withdraw(bed, cut);
});

test.run();
