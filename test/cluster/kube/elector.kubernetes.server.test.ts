import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { KubeClient } from '../../../src/cluster/kube/client.ts';
import { operatorClient } from '../../plugins/operator/certificates/support/operator-account.ts';
import { type Kubernetes, startKubernetes } from '../../support/kubernetes.ts';
import { waitFor } from '../../support/wait-for.ts';
import { leaderOf, type Replica, startReplica, watchLeaders } from './support/replicas.ts';

interface Context {
  cluster: Kubernetes;
  namespace: string;
  replicas: Replica[];
  start(name: string): Promise<{ replica: Replica; link: Link }>;
}

export const idle = true;

const test = suite<Context>('leader election at a real API server');
const times = { leaseMs: 4_000, renewMs: 2_500, retryMs: 300 };

/** A way to the API server that can be cut, as that of a process that stands still. */
interface Link extends KubeClient {
  frozen: boolean;
}

test.before(async (context) => {
  context.cluster = await startKubernetes();
});

test.before.each(async (context) => {
  const { cluster } = context;
  context.namespace = await cluster.createNamespace();
  context.replicas = [];
  const { namespace, replicas } = context;
  const client = await operatorClient(cluster, namespace);
  context.start = async (name) => {
    const link: Link = {
      ...client,
      frozen: false,
      request: async (request) => {
        while (link.frozen) await sleep(20, undefined, request.signal ? { signal: request.signal } : {});
        return client.request(request);
      },
    };
    const replica = startReplica({ client: link, name, namespace, ...times });
    replicas.push(replica);
    return { replica, link };
  };
});

test.after.each(async ({ replicas }) => {
  await Promise.all(replicas.map((replica) => replica.stop()));
});

test.after(({ cluster }) => cluster?.stop());

const stored = async ({ cluster, namespace }: Context) => {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/svc-operator`;
  return (await cluster.must('GET', path)).spec;
};

test('writes a lease as Kubernetes has them, and an empty one at the end', async (context) => {
  const { replica } = await context.start('one');
  await waitFor('a leader', () => replica.elector.leading);
  const spec = await stored(context);
  assert.match(spec.holderIdentity, /^one_/);
  assert.is(spec.leaseDurationSeconds, 4);
  await waitFor('a renewal', async () => (await stored(context)).renewTime !== spec.renewTime);
  await replica.stop();
  assert.is((await stored(context)).holderIdentity ?? '', '');
});

test('hands over within seconds when the leader ends in good order', async (context) => {
  for (const name of ['one', 'two', 'three']) await context.start(name);
  const watch = watchLeaders(() => context.replicas);
  for (let round = 0; round < 2; round++) {
    const leader = await waitFor('a leader', () => leaderOf(context.replicas));
    await leader.stop();
    // far below the life of the lease, which nobody had to wait for
    await waitFor('the next one', () => leaderOf(context.replicas), { timeoutMs: times.leaseMs });
  }
  assert.is(watch.stop(), 1);
});

test('never lets two lead while leaders stand still and the API server goes away', async (context) => {
  const links = new Map<Replica, Link>();
  for (const name of ['one', 'two', 'three']) {
    const { replica, link } = await context.start(name);
    links.set(replica, link);
  }
  const watch = watchLeaders(() => context.replicas);
  const first = await waitFor('a leader', () => leaderOf(context.replicas));
  const link = links.get(first) as Link;
  link.frozen = true;
  const second = await waitFor('another leader', () => {
    const leader = leaderOf(context.replicas);
    return leader !== first && leader;
  });
  link.frozen = false;
  await context.cluster.pause();
  await waitFor('nobody to lead', () => leaderOf(context.replicas) === undefined);
  // its timer may be late; it leads no more by its clock
  await waitFor('the former one to be told', () => second.told.at(-1) === false);
  await context.cluster.resume();
  await waitFor('a leader again', () => leaderOf(context.replicas));
  await context.cluster.pause();
  await context.cluster.resume();
  await waitFor('a leader still, or again', () => leaderOf(context.replicas));
  assert.is(watch.stop(), 1);
});

test('goes on when the lease is deleted', async (context) => {
  for (const name of ['one', 'two']) await context.start(name);
  const watch = watchLeaders(() => context.replicas);
  const leader = await waitFor('a leader', () => leaderOf(context.replicas));
  const other = context.replicas.find((replica) => replica !== leader);
  await waitFor('the other to have seen it', () =>
    other?.log.some((line) => line.startsWith('leader.other')),
  );
  const path = `/apis/coordination.k8s.io/v1/namespaces/${context.namespace}/leases/svc-operator`;
  await context.cluster.must('DELETE', path);
  await waitFor('the lease again', async () => (await context.cluster.request('GET', path)).status === 200);
  await waitFor('a leader', () => leaderOf(context.replicas));
  assert.is(watch.stop(), 1);
});

test.run();
