import { setTimeout } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Pod } from '../../../../src/cluster/kube/pod.ts';
import type { ProtectionReportStatus } from '../../../../src/cluster/resources/protection-report.ts';
import { type Kubernetes, startKubernetes } from '../../../support/kubernetes.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { mutated, plainPod, prepareForReports, type ScoreReplica, startScoreReplica } from './score-rig.ts';

export const idle = true;

const test = suite('reports and metrics of protection');

let kube: Kubernetes;
let token: string;
let replica: ScoreReplica;

test.before(async () => {
  kube = await startKubernetes();
  token = await prepareForReports(kube);
  replica = await startScoreReplica(kube, token);
});

test.after(async () => {
  await replica?.stop();
  await kube?.stop();
});

const protectedNamespace = () => kube.createNamespace({ 'svc/protected': 'true' });
const reportPath = (namespace: string) =>
  `/apis/svc.io/v1alpha1/namespaces/${namespace}/protectionreports/svc`;
const podPath = (namespace: string, name = '') =>
  `/api/v1/namespaces/${namespace}/pods/${name}`.replace(/\/$/, '');

/** @returns its UID */
async function run(namespace: string, pod: Pod, node = 'node-1'): Promise<string> {
  const placed = { ...pod, spec: { ...pod.spec, nodeName: node } };
  const { metadata } = await kube.must('POST', podPath(namespace), placed);
  await kube.must('PATCH', `${podPath(namespace, metadata.name)}/status`, { status: { phase: 'Running' } });
  return metadata.uid;
}

const remove = (namespace: string, name: string) =>
  kube.must('DELETE', `${podPath(namespace, name)}?gracePeriodSeconds=0`);

async function reported(
  namespace: string,
  what: string,
  check: (status: ProtectionReportStatus) => boolean,
): Promise<ProtectionReportStatus> {
  let last: { status: number; text: string } | undefined;
  return waitFor(
    what,
    async () => {
      const answer = await kube.request('GET', reportPath(namespace));
      last = answer;
      const status = (answer.json as { status?: ProtectionReportStatus } | undefined)?.status;
      return answer.status === 200 && status !== undefined && check(status) && status;
    },
    { timeoutMs: 20_000, details: () => `${last?.text}\n${JSON.stringify(replica.lines.slice(-5))}` },
  );
}

const scoresOf = ({ workloads }: ProtectionReportStatus) =>
  workloads.map(({ kind, name, score }) => `${kind}/${name} ${score}`);

async function rounds(count: number): Promise<void> {
  const before = await replica.reconciled();
  await waitFor('further rounds', async () => (await replica.reconciled()) >= before + count);
}

test('say what protects each workload, and what is missing', async () => {
  const namespace = await protectedNamespace();
  const uid = await run(namespace, mutated(plainPod('safe')));
  await run(namespace, plainPod('bare'), 'node-2');
  const unguarded = await reported(namespace, 'both', ({ workloads }) => workloads.length === 2);
  assert.equal(scoresOf(unguarded), ['Pod/bare 0', 'Pod/safe 67']);
  assert.equal(unguarded.summary, { workloads: 2, protected: 1, lowestScore: 0, leftOut: 0 });
  const [bare] = unguarded.workloads;
  assert.match(bare?.findings[0]?.message ?? '', /^1 of 1 pods run without the wrapper/);
  assert.match(bare?.addends.find(({ name }) => name === 'wrapper')?.remedy ?? '', /svc\/inject/);
  assert.equal(await replica.shown(namespace), [
    'kind="Pod",workload="bare"} 0',
    'kind="Pod",workload="safe"} 67',
  ]);

  replica.nodes.tell('node-1', [uid]);
  const guarded = await reported(namespace, 'the guarded one', ({ workloads }) => workloads[1]?.score === 92);
  assert.equal(scoresOf(guarded), ['Pod/bare 0', 'Pod/safe 92']);
  assert.equal(await replica.shown(namespace), [
    'kind="Pod",workload="bare"} 0',
    'kind="Pod",workload="safe"} 92',
  ]);

  const { stdout } = await kube.kubectl(['-n', namespace, 'get', 'protectionreports']);
  assert.match(stdout, /^NAME +WORKLOADS +PROTECTED +LOWEST +AGE\nsvc +2 +1 +0 +\w+\n/);
});

test('are not written again while nothing changes', async () => {
  const namespace = await protectedNamespace();
  await run(namespace, mutated(plainPod('calm')));
  await reported(namespace, 'the report', ({ workloads }) => workloads.length === 1);
  const { resourceVersion } = (await kube.must('GET', reportPath(namespace))).metadata;
  await rounds(40);
  assert.is((await kube.must('GET', reportPath(namespace))).metadata.resourceVersion, resourceVersion);
  const own = replica.writes.filter(({ path }) => path.includes(`/${namespace}/`));
  assert.is(own.length, 2, own.map(({ path }) => path).join('\n'));
});

test('gather a burst of changes', async () => {
  const namespace = await protectedNamespace();
  const names = Array.from({ length: 60 }, (_, n) => `burst-${n}`);
  await Promise.all(names.map((name) => run(namespace, mutated(plainPod(name)))));
  await reported(namespace, 'all', ({ summary }) => summary.workloads === 60 && summary.lowestScore === 67);
  const own = replica.writes.filter(({ path }) => path.includes(`/${namespace}/`));
  assert.ok(own.length < 60, `${own.length} writes`);
});

test('go with the last workload that they are about, and so do the metrics', async () => {
  const namespace = await kube.createNamespace();
  await run(namespace, mutated(plainPod('one')));
  await run(namespace, mutated(plainPod('two')));
  await run(namespace, plainPod('of-no-concern'));
  await reported(namespace, 'two', ({ workloads }) => workloads.length === 2);
  await remove(namespace, 'one');
  await reported(namespace, 'one', ({ workloads }) => workloads.length === 1);
  await waitFor('one line', async () => (await replica.shown(namespace)).length === 1);
  await remove(namespace, 'two');
  await waitFor('the end', async () => (await kube.request('GET', reportPath(namespace))).status === 404);
  assert.equal(await replica.shown(namespace), []);
});

test('are put right when somebody has changed or deleted them', async () => {
  const namespace = await protectedNamespace();
  await run(namespace, mutated(plainPod('kept')));
  await reported(namespace, 'the report', ({ workloads }) => workloads.length === 1);
  await kube.must('DELETE', reportPath(namespace));
  await reported(namespace, 'the report again', ({ workloads }) => workloads.length === 1);
  const summary = { workloads: 1, protected: 1, lowestScore: 100, leftOut: 0 };
  await kube.must('PATCH', `${reportPath(namespace)}/status`, { status: { summary } });
  await reported(namespace, 'the truth', (status) => status.summary.lowestScore === 67);
});

test('judge a workload without pods by its template, and show no metric of it', async () => {
  const namespace = await kube.createNamespace();
  const labels = { app: 'asleep' };
  const { spec } = plainPod('x');
  await kube.must('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
    metadata: { name: 'asleep' },
    spec: {
      ...{ replicas: 0, selector: { matchLabels: labels } },
      template: { metadata: { labels, annotations: { 'svc/inject': 'true' } }, spec },
    },
  });
  const status = await reported(namespace, 'the report', ({ workloads }) => workloads.length === 1);
  assert.equal(scoresOf(status), ['Deployment/asleep 40']);
  assert.is(status.workloads[0]?.pods, 0);
  assert.equal(await replica.shown(namespace), []);
});

test('are of the leader alone', async () => {
  const namespace = await protectedNamespace();
  await run(namespace, mutated(plainPod('led')));
  await waitFor('the metric', async () => (await replica.shown(namespace)).length === 1);
  const other = await startScoreReplica(kube, token, false);
  try {
    replica.leadership.lead(false);
    assert.equal(await replica.shown(namespace), []);
    assert.equal(await other.shown(namespace), []);
    const before = replica.writes.length;
    other.leadership.lead(true);
    await waitFor('the other one', async () => (await other.shown(namespace)).length === 1);
    await run(namespace, mutated(plainPod('led-2')));
    await reported(namespace, 'two', ({ workloads }) => workloads.length === 2);
    assert.is(replica.writes.length, before);
  } finally {
    other.leadership.lead(false);
    await other.stop();
    replica.leadership.lead(true);
  }
  await waitFor('the first one again', async () => (await replica.shown(namespace)).length === 2);
});

async function untilShown({ shown }: ScoreReplica, namespace: string, score: number): Promise<void> {
  let last: readonly string[] = [];
  await waitFor(
    `a score of ${score}`,
    async () => {
      last = await shown(namespace);
      return last.some((line) => line.endsWith(` ${score}`));
    },
    { details: () => last.join('\n') },
  );
}

test('wait, under a new leader, for agents and egress policies, and follow these at once', async () => {
  const namespace = await protectedNamespace();
  const uid = await run(namespace, mutated(plainPod('safe')), 'node-9');
  const next = await startScoreReplica(kube, token, false, { resync: 600_000, unknown: 600_000 });
  try {
    // other tests left pods on nodes of their own
    for (const node of ['node-1', 'node-2']) next.nodes.tell(node, []);
    next.egress.applied = undefined;
    next.leadership.lead(true);
    next.nodes.tell('node-9', [uid]);
    await setTimeout(1_500);
    assert.equal(await next.shown(namespace), [], 'the egress policies are not known yet');
    next.egress.applied = true;
    await untilShown(next, namespace, 92);
    next.egress.change(namespace, false);
    await untilShown(next, namespace, 82);
  } finally {
    await next.stop();
  }
});

test('are current again after the API server was away', async () => {
  const namespace = await protectedNamespace();
  await run(namespace, mutated(plainPod('before')));
  await reported(namespace, 'one', ({ workloads }) => workloads.length === 1);
  await kube.pause();
  replica.egress.applied = false;
  await kube.resume();
  await run(namespace, mutated(plainPod('after')));
  await reported(
    namespace,
    'two without egress',
    ({ summary }) => summary.workloads === 2 && summary.lowestScore === 57,
  );
  replica.egress.applied = true;
});

test.run();
