import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Pod, PodMetadata } from '../../../../src/cluster/kube/pod.ts';
import { byNamespace, type KnownPod } from '../../../../src/plugins/operator/cluster-view.ts';
import { reportStatus } from '../../../../src/plugins/operator/controllers/protection-report.ts';
import {
  nodeReports,
  type ScoreDeps,
  scoreNamespace,
  templatesOf,
} from '../../../../src/plugins/operator/controllers/protection-score.ts';
import { createCollector } from '../../../../src/runtime/memory.ts';
import { bestReport, plainPod, protectedPod } from '../../../cluster/score/facts.ts';
import { fakeCluster } from './fake-cluster.ts';
import { fakeEgress, fakeNodes } from './fake-parts.ts';

const test = suite('scores of a namespace');

function rig() {
  const cluster = fakeCluster();
  const nodes = fakeNodes();
  const egress = fakeEgress();
  const indexes = {
    pods: byNamespace(cluster.view.pods),
    serviceConfigs: byNamespace(cluster.view.serviceConfigs),
  };
  const deps = {
    cluster: cluster.view,
    nodes,
    egress,
    indexes,
    namespace: 'svc-system',
  } as unknown as ScoreDeps;
  const templates = templatesOf(cluster.view.workloads);
  const namespace = (name: string, labels = {}) =>
    cluster.namespaces.put(name, { name, labels, terminating: false });
  namespace('shop');
  return {
    ...{ ...cluster, nodes, egress, namespace },
    scores: (name = 'shop') => scoreNamespace(deps, templates, name),
    status: (name = 'shop') => reportStatus(scoreNamespace(deps, templates, name), nodeReports(deps, name)),
    pod(name: string, pod: Pod, more: Partial<PodMetadata> = {}, phase = 'Running', within = 'shop') {
      const metadata = { ...pod.metadata, name, namespace: within, uid: `uid-${name}`, ...more };
      const known: KnownPod = {
        ...{ key: `${within}/${name}`, namespace: within, name, uid: `uid-${name}` },
        pod: { ...pod, metadata, status: { phase } },
      };
      cluster.pods.put(known.key, known);
    },
  };
}

const ownedBy = (kind: string, name: string) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: 'x', controller: true }],
});
const named = (scores: ReturnType<typeof scoreNamespace>) =>
  scores.map(({ kind, name, score, pods }) => `${kind}/${name} ${score} ${pods}`);

test('of a pod that its agent does not cover have nothing of enforcement and coverage, and say why', () => {
  const { pod, nodes, scores } = rig();
  pod('a', { ...protectedPod(), spec: { ...protectedPod().spec, nodeName: 'node-1' } });
  nodes.tell('node-1', ['uid-a']);
  const [covered] = scores();
  nodes.tellUncovered('node-1', 'uid-a', 'It has no cgroup on this node.');
  const [uncovered] = scores();
  assert.equal([covered?.enforced, uncovered?.enforced], [true, false]);
  assert.is((covered?.score ?? 0) - (uncovered?.score ?? 0), 25);
  const coverage = uncovered?.addends.find(({ name }) => name === 'coverage');
  assert.is(coverage?.points, 0);
  assert.match(coverage?.because ?? '', /does not cover this pod: It has no cgroup on this node/);
});

test('have nothing of them either where only some of its processes are covered', () => {
  const { pod, nodes, scores } = rig();
  pod('a', { ...protectedPod(), spec: { ...protectedPod().spec, nodeName: 'node-1' } });
  nodes.tellUncovered('node-1', 'uid-a', '', 1);
  const [registered] = scores();
  nodes.tellUncovered('node-1', 'uid-a', 'It has had too many.', 8_192);
  const [crowded] = scores();
  assert.equal([registered?.enforced, crowded?.enforced], [true, false]);
  const coverage = crowded?.addends.find(({ name }) => name === 'coverage');
  assert.match(coverage?.because ?? '', /does not cover this pod: It has had too many/);
});

test('are of the outermost owners, each by its worst pod', () => {
  const { pod, nodes, scores } = rig();
  pod('a-1', protectedPod(), ownedBy('Deployment', 'a'));
  pod('a-2', protectedPod(), ownedBy('Deployment', 'a'));
  pod('b', protectedPod());
  nodes.tell('node-1', ['uid-a-1', 'uid-b'], 1, [bestReport()]);
  assert.equal(named(scores()), ['Deployment/a 63 2', 'Pod/b 100 1']);
});

test('count what the agent tells of this very pod', () => {
  const { pod, nodes, scores } = rig();
  pod('b', protectedPod());
  assert.is(scores()[0]?.score, 63);
  nodes.tell('node-1', ['uid-other']);
  assert.is(scores()[0]?.score, 63);
  nodes.tell('node-2', ['uid-b']);
  assert.is(scores()[0]?.score, 63);
  nodes.tell('node-1', ['uid-b'], 3);
  assert.is(scores()[0]?.score, 80);
  nodes.fallSilent('node-1');
  assert.is(scores()[0]?.score, 63);
});

test('leave out workloads that neither are protected nor ask for it', () => {
  const { pod, scores, serviceConfigs, namespace } = rig();
  pod('plain', plainPod(), { labels: { app: 'plain' } });
  pod('asks', plainPod(), { annotations: { 'svc/vault-role': 'x' } });
  pod('declines', plainPod(), { annotations: { 'svc/inject': 'false' } });
  assert.equal(named(scores()), ['Pod/asks 0 1']);
  const spec = { selector: { matchLabels: { app: 'plain' } } };
  const identity = { namespace: 'shop', name: 'c', uid: 'c', generation: 1, created: '2026-01-01T00:00:00Z' };
  serviceConfigs.put('shop/c', { key: 'shop/c', ...identity, spec, status: {} });
  assert.equal(named(scores()), ['Pod/plain 0 1', 'Pod/asks 0 1']);
  serviceConfigs.remove('shop/c');
  namespace('shop', { 'svc/protected': 'true' });
  assert.equal(named(scores()), ['Pod/plain 0 1', 'Pod/asks 0 1', 'Pod/declines 0 1']);
});

test('judge a workload without pods by its template, as a ServiceConfig makes it', () => {
  const { workloads, scores, serviceConfigs } = rig();
  const template: Pod = { metadata: { labels: { app: 'nightly' } }, spec: plainPod().spec };
  const job = { kind: 'CronJob', namespace: 'shop', name: 'nightly', uid: 'n', owner: undefined, template };
  workloads.put('CronJob/shop/nightly', job);
  assert.equal(scores(), []);
  const spec = { selector: { matchLabels: { app: 'nightly' } } };
  const identity = { namespace: 'shop', name: 'c', uid: 'c', generation: 1, created: '2026-01-01T00:00:00Z' };
  serviceConfigs.put('shop/c', { key: 'shop/c', ...identity, spec, status: {} });
  assert.equal(named(scores()), ['CronJob/nightly 40 0']);
  workloads.remove('CronJob/shop/nightly');
  assert.equal(scores(), []);
});

test('pass over pods that have ended, Jobs that have none left, and pods that have not begun beside others', () => {
  const { pod, workloads, scores, namespace, pods } = rig();
  namespace('shop', { 'svc/protected': 'true' });
  workloads.put('Job/shop/once', {
    ...{ kind: 'Job', namespace: 'shop', name: 'once', uid: 'o', owner: undefined, template: plainPod() },
  });
  pod('done', protectedPod(), ownedBy('Job', 'once'), 'Succeeded');
  assert.equal(named(scores()), []);
  pod('runs', protectedPod(), ownedBy('Deployment', 'a'));
  pod('waits', plainPod(), ownedBy('Deployment', 'a'), 'Pending');
  assert.equal(named(scores()), ['Deployment/a 63 1']);
  pods.remove('shop/runs');
  assert.equal(named(scores()), ['Deployment/a 0 1']);
});

test('are none where the webhook never looks, or that end', () => {
  const { pod, scores, namespace, namespaces } = rig();
  for (const name of ['kube-system', 'svc-system', 'ends']) {
    namespace(name, { 'svc/protected': 'true' });
    pod('p', protectedPod(), {}, 'Running', name);
  }
  namespaces.put('ends', { name: 'ends', labels: { 'svc/protected': 'true' }, terminating: true });
  for (const name of ['kube-system', 'svc-system', 'ends', 'unknown']) assert.equal(scores(name), []);
});

test('see the egress policy of the namespace and what widens it', () => {
  const { pod, scores, egress } = rig();
  pod('p', protectedPod());
  const points = () => scores()[0]?.addends.find(({ name }) => name === 'egress')?.points;
  assert.is(points(), 10);
  egress.widening = ['allow-all'];
  assert.is(points(), 0);
  egress.widening = [];
  egress.applied = undefined;
  assert.is(points(), 0);
});

test('of five thousand pods take little time and leave nothing behind', () => {
  const { pod, nodes, scores, namespace } = rig();
  const names = Array.from({ length: 50 }, (_, n) => `ns-${n}`);
  for (const name of names) {
    namespace(name, { 'svc/protected': 'true' });
    for (let n = 0; n < 100; n++)
      pod(`${name}-${n}`, protectedPod(), ownedBy('Deployment', `d-${n % 25}`), 'Running', name);
  }
  nodes.tell(
    'node-1',
    names.flatMap((name) => Array.from({ length: 100 }, (_, n) => `uid-${name}-${n}`)),
    1,
    [bestReport()],
  );
  const collect = createCollector(0);
  const round = () => {
    for (const name of names) {
      const { summary, workloads } = reportStatus(scores(name));
      assert.equal(summary, { workloads: 25, protected: 25, lowestScore: 100, leftOut: 0 });
      assert.is(workloads.length, 25);
    }
  };
  round();
  collect();
  const before = process.memoryUsage().heapUsed;
  const began = performance.now();
  for (let rounds = 0; rounds < 5; rounds++) round();
  const each = (performance.now() - began) / 5;
  collect();
  const grown = process.memoryUsage().heapUsed - before;
  assert.ok(each < 5_000, `${Math.round(each)} ms a round`);
  assert.ok(grown < 2_000_000, `${grown} bytes more`);
});

test('come with what the agents of its own nodes enforce, and why nothing better', () => {
  const { pod, nodes, status, namespace } = rig();
  const on = (nodeName: string) => ({ ...protectedPod(), spec: { ...protectedPod().spec, nodeName } });
  namespace('other');
  pod('a', on('node-1'));
  pod('b', on('node-2'));
  pod('c', on('node-2'));
  pod('silent', on('node-3'));
  pod('over', on('node-4'), {}, 'Succeeded');
  pod('elsewhere', on('node-5'), {}, 'Running', 'other');
  nodes.tellLowered('node-2', 'Audit mode.', 'bpf is not in the list of the LSMs.');
  for (const node of ['node-1', 'node-4', 'node-5']) nodes.tell(node, []);
  assert.equal(status().nodes, [
    { name: 'node-1', tier: 1, enforcing: true },
    {
      ...{ name: 'node-2', tier: 3, enforcing: false, reason: 'Audit mode.' },
      passedOver: [{ tier: 1, reason: 'bpf is not in the list of the LSMs.' }],
    },
  ]);
  assert.is(status().summary.nodesLeftOut, undefined);
});

test('of more nodes than a report has room for leave out those that protect best', () => {
  const { pod, nodes, status } = rig();
  for (let n = 0; n < 700; n++) {
    pod(`p-${n}`, { ...protectedPod(), spec: { ...protectedPod().spec, nodeName: `node-${n}` } });
    if (n < 600) nodes.tell(`node-${n}`, []);
    else nodes.tellLowered(`node-${n}`, 'Audit mode.', '\u0001'.repeat(500));
  }
  const { nodes: told = [], summary } = status();
  assert.ok(JSON.stringify(told).length < 320_000);
  assert.is(told.filter(({ tier }) => tier === 3).length, 96);
  assert.is((summary.nodesLeftOut ?? 0) + told.length, 700);
});

test('of more workloads than a report has room for leave out the best ones', () => {
  const { pod, scores, namespace } = rig();
  namespace('shop', { 'svc/protected': 'true' });
  const volumes = [
    { name: 'svc-wrapper', emptyDir: {} },
    ...Array.from({ length: 30 }, (_, n) => ({
      name: `v${n}`.repeat(20),
      secret: { secretName: 'x'.repeat(250) },
    })),
  ];
  for (let n = 0; n < 400; n++) pod(`good-${n}`, protectedPod());
  for (let n = 0; n < 5_000; n++) pod(`bad-${n}`, protectedPod(undefined, { volumes }));
  const status = reportStatus(scores());
  const { summary, workloads } = status;
  assert.ok(JSON.stringify(status).length < 1_000_000);
  assert.ok(workloads.length > 50 && workloads.length <= 500);
  assert.is(summary.leftOut, 5_400 - workloads.length);
  assert.ok(workloads.every(({ name }) => name.startsWith('bad-')));
  const sorted = workloads.map(({ name }) => name);
  assert.equal(sorted, [...sorted].sort());
});

test.run();
