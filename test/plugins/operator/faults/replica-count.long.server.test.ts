import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { helm } from '../../../support/helm.ts';
import {
  environmentOf,
  type OperatorCluster,
  startOperatorCluster,
} from '../../../support/operator-cluster.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { admits, page } from './support/bed.ts';
import { writtenBundles } from './support/certificates.ts';
import { shown, startLoad } from './support/load.ts';

const test = suite('the number of replicas changes');
export const timeout = 240_000;

const perSecond = 50;
const aroundMs = 3_000;
const vaultAddress = 'https://vault.example:8200';

let cluster: OperatorCluster;
let namespace: string;

test.before(async () => {
  cluster = await startOperatorCluster({ values: { operator: { vaultAddress } } });
  namespace = await cluster.kubernetes.createNamespace();
  await admits(cluster.kubernetes, namespace);
});
test.after(() => cluster?.stop());

/** Starts as many as the chart with these values says, and ends the others once they are ready, as a Deployment does. */
async function rollTo(operator: object): Promise<void> {
  const tool = await helm();
  const manifests = await tool.render({ operator: { vaultAddress, ...operator } }).finally(tool.remove);
  const former = cluster.replicas.filter(
    ({ output }) => !output().includes('"run.stopped"') && !ended.has(output),
  );
  const deployment = manifests.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'svc-operator',
  );
  for (let left = deployment?.spec.replicas; left > 0; left--) {
    const replica = await cluster.add({ env: environmentOf(manifests) });
    await waitFor('a ready replica', async () => (await page(replica, 'readyz')).status === 200);
  }
  for (const replica of former) {
    ended.add(replica.output);
    await replica.end('SIGTERM');
  }
}
const ended = new Set<() => string>();

test('from one replica to three and back no admission fails, and whoever leads holds the lease', async () => {
  const load = startLoad(cluster.kubernetes, namespace, perSecond);
  await sleep(aroundMs);
  const bundles = new Set(await writtenBundles(cluster.kubernetes));
  await rollTo({ ha: true });
  await sleep(aroundMs);
  await rollTo({});
  await sleep(aroundMs);
  const tally = await load.stop();
  console.log(shown(tally));
  assert.equal(tally.failed, [], shown(tally));
  assert.ok(tally.all > 300, shown(tally));
  for (const bundle of await writtenBundles(cluster.kubernetes)) bundles.add(bundle);
  assert.is(bundles.size, 1);
  const last = cluster.replicas.at(-1);
  const leader = await waitFor('the lease of the last one', async () => {
    const found = await cluster.leader();
    return found.name === last?.name && found;
  });
  assert.match((await page(leader, 'readyz')).text, /"leading":true/);
});

test('one that does not wait leads at once, although the lease is held', async () => {
  const former = await cluster.leader();
  const next = await cluster.add({ env: { SVC_OPERATOR_LEADER_ELECT: 'false' } });
  await waitFor('its lease', async () => (await cluster.leader()).name === next.name, { timeoutMs: 10_000 });
  await waitFor('the end of the other one’s term', () => former.events('leader.lost').length > 0);
  await sleep(3_000);
  assert.is((await cluster.leader()).name, next.name);
});

test.run();
