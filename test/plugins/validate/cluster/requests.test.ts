import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { KubeClient, KubeRequest } from '../../../../src/cluster/kube/client.ts';
import { runChecks } from '../../../../src/plugins/validate/index.ts';
import { checks } from '../../../../src/plugins/validate/registry.ts';
import { contextOf } from '../test-context.ts';
import type { FakeObject } from './fake-cluster.ts';
import { added, changed, fixtureOf } from './fixture-of.ts';

const test = suite('what checks of a cluster ask the API server for');

/** Runs all of them; how often each path was read. */
async function readsOf(fixture: ReturnType<ReturnType<typeof fixtureOf>>) {
  const client = (await fixture.cluster?.()) as KubeClient;
  const reads = new Map<string, number>();
  const counting = ({ method = 'GET', path }: KubeRequest) => {
    if (method === 'GET') reads.set(path, (reads.get(path) ?? 0) + 1);
  };
  const counted: KubeClient = {
    ...client,
    async request(request) {
      counting(request);
      return client.request(request);
    },
    async read(request, use) {
      counting(request);
      return client.read(request, use);
    },
  };
  const some = checks.filter(({ needs }) => needs === 'cluster');
  await runChecks(some, contextOf({ ...fixture, cluster: async () => counted }), () => {});
  return reads;
}

const lists = [
  ...['/api/v1/pods', '/api/v1/namespaces/svc-system/pods', '/api/v1/namespaces', '/api/v1/nodes'],
  ...['/apis/svc.io/v1alpha1/serviceconfigs', '/apis/svc.io/v1alpha1/secretmappings'],
  ...['/apis/networking.k8s.io/v1/networkpolicies', '/apis/apps/v1/daemonsets'],
];

test('lists are read once, however many checks look at them, and no agent is asked twice', async () => {
  const reads = await readsOf(fixtureOf()());
  assert.equal(
    lists.map((path) => [path, reads.get(path)]),
    lists.map((path) => [path, 1]),
  );
  assert.is(reads.get('/api/v1/namespaces/svc-system/pods/svc-ebpf-1:9090/proxy/metrics'), 1);
});

/** With a protected pod, which needs an egress policy. */
const another = (name: string): readonly FakeObject[] => [
  {
    ...{ apiVersion: 'v1', kind: 'Namespace' },
    metadata: { name, labels: { 'kubernetes.io/metadata.name': name, 'svc/protected': 'true' } },
  },
  {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { name: 'web', namespace: name, labels: { 'svc/protected': 'true' } },
    spec: { containers: [{ name: 'web' }] },
  },
];

test('what the policies of all namespaces have in common is read as often for many as for one', async () => {
  const common = (reads: ReadonlyMap<string, number>) =>
    [...reads].filter(([path]) => path.includes('/endpointslices') || path.includes('/services/'));
  const one = common(await readsOf(fixtureOf()()));
  const many = common(await readsOf(fixtureOf(added(...another('one'), ...another('two')))()));
  assert.ok(one.length > 0);
  assert.equal(many, one);
});

test('a pod that nobody asked to protect is not kept', async () => {
  const { protectedPodsOf } = await import('../../../../src/plugins/validate/cluster/pods.ts');
  const bare = changed('Pod', 'web', ({ metadata: { labels: _, annotations: __, ...metadata }, ...pod }) => ({
    ...pod,
    metadata,
  }));
  const refusing = changed('Pod', 'web', ({ metadata, ...pod }) => ({
    ...pod,
    metadata: { ...metadata, labels: { app: 'web' }, annotations: { 'svc/inject': 'false' } },
  }));
  const selected = changed('Pod', 'web', ({ metadata: { annotations: _, ...metadata }, ...pod }) => ({
    ...pod,
    metadata: { ...metadata, labels: { app: 'web' } },
  }));
  const counts = async (...changes: readonly ReturnType<typeof changed>[]) => {
    const { asking, labelled } = await protectedPodsOf(contextOf(fixtureOf(...changes)()));
    return [asking.length, labelled.length];
  };
  assert.equal(await counts(), [1, 1]);
  assert.equal(await counts(bare), [0, 0]);
  assert.equal(await counts(refusing), [0, 0]);
  assert.equal(await counts(selected), [1, 0]);
});

test.run();
