import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ClusterReport } from '../../../../src/plugins/audit/cluster/report.ts';
import { launch } from '../../../support/child.ts';
import { cleanEnv } from '../../../support/clean-env.ts';
import { http } from '../../../support/http.ts';
import type { Kubernetes } from '../../../support/kubernetes.ts';
import { type OperatorCluster, startOperatorCluster } from '../../../support/operator-cluster.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { runAudit } from '../run-audit.ts';
import { agentPod, agentToken, tellOperator } from './telling-agent.ts';

export const timeout = 240_000;
const test = suite('svc audit of a cluster');
const asked = { 'svc/inject': 'true', 'svc/vault-role': 'app', 'svc/secret-paths': 'secret/app' };
const [node, lesser] = ['node-1', 'node-2'];

let cluster: OperatorCluster;
let kube: Kubernetes;
let namespace: string;

test.before(async () => {
  cluster = await startOperatorCluster({
    controllers: true,
    values: { operator: { vaultAddress: 'https://bao.example:8200', leaderElect: true } },
  });
  kube = cluster.kubernetes;
  namespace = await kube.createNamespace();
  for (const [name, agent] of [
    [node, 'svc-ebpf-1'],
    [lesser, 'svc-ebpf-2'],
  ] as const) {
    await kube.must('POST', '/api/v1/nodes', { metadata: { name } });
    await agentPod(kube, agent, name);
  }
  await pod('told', asked, container());
  await pod('untold', asked, container([secretVariable]));
  await pod('bare', {}, container([secretVariable]), lesser);
  await deployment('web');
  await deployment('idle', 0);
});

test.after(() => cluster?.stop());

const secretVariable = { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } };

const container = (env: readonly object[] = []) => ({
  name: 'app',
  image: 'shop:1',
  command: ['/shop'],
  securityContext: { runAsUser: 1000 }, // so that no registry is asked
  env,
});

/** It "runs" on the node, since nobody else says so. */
async function pod(name: string, annotations: object, app: object, nodeName = node): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  await kube.must('POST', path, {
    metadata: { name, annotations },
    spec: { nodeName, containers: [app] },
  });
  await kube.must('PATCH', `${path}/${name}/status`, { status: { phase: 'Running' } });
}

async function deployment(name: string, replicas = 1): Promise<void> {
  const labels = { app: name };
  await kube.must('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations: asked }, spec: { containers: [container()] } },
    },
  });
}

const audit = (args: readonly string[] = [], token?: string) =>
  runAudit(args, { KUBECONFIG: kube.kubeconfig(token) });

async function report(args: readonly string[] = [], status = 0): Promise<ClusterReport> {
  const { stdout, stderr, status: ended } = await audit(['--json', ...args]);
  assert.is(ended, status, stderr);
  return JSON.parse(stdout);
}

/** What the operator exports: scores by kind and name. */
async function exported(): Promise<ReadonlyMap<string, number>> {
  const { metrics } = (await cluster.leader()).started;
  const { text } = await http(`http://${metrics}/metrics`);
  const samples = text.matchAll(
    /^svc_workload_protection_score\{namespace="([^"]+)",kind="([^"]+)",workload="([^"]+)"\} (\d+)$/gm,
  );
  return new Map(
    [...samples].map(([, within, kind, name, score]) => [`${within}/${kind}/${name}`, Number(score)]),
  );
}

const titled = ({ workloads }: ClusterReport) =>
  new Map(workloads.map((one) => [`${one.namespace}/${one.kind}/${one.name}`, one]));

test('scores are those that the operator exports, with what its agents told', async () => {
  const { metadata } = await kube.must('GET', `/api/v1/namespaces/${namespace}/pods/told`);
  const leader = await cluster.leader();
  const told = [{ podUid: metadata.uid, labelled: true, covered: true }];
  const token = await agentToken(kube, 'svc-ebpf-1');
  await waitFor('the agent to be heard', () =>
    tellOperator(kube, leader.started['grpc'] ?? '', node, told, token).then(
      () => true,
      () => false,
    ),
  );
  const key = `${namespace}/Pod/told`;
  const found = await waitFor(
    'scores from the reports',
    async () => {
      const metric = await exported();
      // a report takes half a second of a processor, and cannot agree before
      if (metric.size !== 3) return undefined;
      const all = titled(await report());
      const asking = [...all.values()].filter(({ asks, pods }) => asks && pods > 0);
      const agreeing = asking.every(({ source }) => source === 'report');
      const enforced = all.get(key)?.addends.find(({ name }) => name === 'enforcement')?.points;
      return agreeing && enforced === 20 ? { metric, all } : undefined;
    },
    { timeoutMs: 120_000 },
  );
  for (const [title, score] of found.metric) assert.is(found.all.get(title)?.score, score, title);
  const scored = [...found.all].filter(([, { asks, pods }]) => asks && pods > 0).map(([title]) => title);
  assert.equal(scored.sort(), [...found.metric.keys()].sort());
  assert.ok((found.all.get(key)?.score ?? 0) > (found.all.get(`${namespace}/Pod/untold`)?.score ?? 100));
});

test('a node on a lower tier is named with the reason that its agent tells', async () => {
  const leader = await cluster.leader();
  const lsm = { tier: 'TIER_LSM', reason: 'bpf is not in the list of the LSMs of this kernel.' };
  const lowered = { tier: 'TIER_TRACEPOINT', enforcing: false, reason: 'Audit mode.', passedOver: [lsm] };
  const token = await agentToken(kube, 'svc-ebpf-2');
  await tellOperator(kube, leader.started['grpc'] ?? '', lesser, [], token, lowered);
  const named = await waitFor(
    'both nodes in the report',
    async () => {
      const { nodes } = await report();
      return nodes.length === 2 && nodes;
    },
    { timeoutMs: 60_000 },
  );
  assert.equal(named, [
    { name: node, tier: 1, tierName: 'lsm', enforcing: true },
    {
      ...{ name: lesser, tier: 3, tierName: 'tracepoint', enforcing: false, reason: 'Audit mode.' },
      passedOver: [{ tier: 1, reason: lsm.reason }],
    },
  ]);
  const { stdout } = await audit();
  assert.match(stdout, /^NODE +TIER +ENFORCES +WHY NOT MORE$/m);
  assert.match(stdout, /^node-2 +tracepoint +no +Audit mode\.; lsm: bpf is not in the list/m);
  assert.match(stdout, /^1 node on tier lsm, enforcing\.$/m);
  assert.equal((await report(['-n', 'default'])).nodes, []);
});

test('what nobody asked for, and what has no pods, is a row too', async () => {
  const all = titled(await report());
  const bare = all.get(`${namespace}/Pod/bare`);
  assert.is(bare?.score, 0);
  assert.is(bare?.asks, false);
  assert.match(bare?.because ?? '', /asks for its protection/);
  assert.equal(
    bare?.findings.map(({ id, level }) => `${level} ${id}`),
    ['warning unprotected-pods', 'warning secret-reference'],
  );
  assert.is(all.get(`${namespace}/Deployment/idle`)?.pods, 0);
  assert.not.ok([...all.keys()].some((title) => title.startsWith('kube-system/')));
  assert.not.ok([...all.keys()].some((title) => title.startsWith('svc-system/')));
});

test('filters change what is shown, never the exit status', async () => {
  const shown = await report(['--kind', 'deployment', '-n', namespace, '--min-score', '1'], 1);
  assert.equal([...titled(shown).keys()], [`${namespace}/Deployment/idle`, `${namespace}/Deployment/web`]);
  assert.match(shown.outcome.reasons.join(), /1 workload has less than --min-score 1, .*Pod\/bare/);
  assert.is((await report(['--below', '1', '--min-score', '0'])).workloads.length, 1);
  const asking = await report(['--scope', 'asking', '--min-score', '1']);
  assert.is(asking.summary.workloads, 4);
});

test('fails on what it is told to, the same in every format', async () => {
  const status = async (...args: string[]) => (await audit(args)).status;
  assert.is(await status('--fail-on', 'none'), 0);
  assert.is(await status('--fail-on', 'error'), 0);
  assert.is(await status('--fail-on', 'warning', '--min-score', '1'), 1);
  assert.is(await status('--min-score', '-1'), 3);
  for (const format of ['table', 'json', 'sarif', 'html'])
    assert.is(await status('-o', format, '--fail-on', 'warning'), 2, format);
});

test('the table fits 100 columns, and says what is missing and how to get it', async () => {
  const { stdout } = await audit();
  assert.ok(
    stdout.split('\n').every((line) => line.length <= 100),
    stdout,
  );
  assert.match(stdout, /^NAMESPACE +WORKLOAD +SCORE +PODS +MISSING$/m);
  assert.match(stdout, /does not ask for protection/);
  assert.match(stdout, /How to get what is missing:\n- /);
  assert.match(stdout, /warning secret-reference/);
  assert.not.ok(stdout.includes('\u001b'));
});

test('SARIF holds a result for each finding', async () => {
  const { stdout } = await audit(['-o', 'sarif', '--min-score', '1']);
  const [run] = JSON.parse(stdout).runs;
  const ids: string[] = run.results.map(({ ruleId }: { ruleId: string }) => ruleId);
  assert.ok(ids.includes('secret-reference') && ids.includes('protection-score'));
  for (const { ruleId, ruleIndex } of run.results) assert.is(run.tool.driver.rules[ruleIndex].id, ruleId);
});

test('watching tells of each change as a line, and ends with the interrupt', async () => {
  const child = await launch(process.execPath, ['bin/run.js', 'audit', '--watch'], {
    env: cleanEnv({ KUBECONFIG: kube.kubeconfig() }),
    cwd: process.cwd(),
  });
  const changed = (kind: string, name: string) => () =>
    child
      .logs()
      .split('\n')
      .some((line) => line.includes(`"change":"${kind}"`) && line.includes(`"name":"${name}"`));
  try {
    await child.until('the first rows', changed('added', 'bare'));
    await pod('late', {}, container());
    await child.until('the new row', changed('added', 'late'));
    await kube.must('DELETE', `/api/v1/namespaces/${namespace}/pods/late?gracePeriodSeconds=0`);
    await child.until('the row to go', changed('removed', 'late'));
    assert.is((await child.end('SIGINT')).code, 130);
  } finally {
    await child.stop();
  }
});

test('names every permission that is missing, and cannot say anything then', async () => {
  const token = await kube.tokenFor({ namespace, name: 'default' });
  for (const format of ['table', 'json', 'sarif']) {
    const { status, stdout, stderr } = await audit(['-o', format], token);
    assert.is(status, 4);
    for (const resource of [
      'pods',
      'cronjobs.batch',
      'networkpolicies.networking.k8s.io',
      'protectionreports.svc.io',
    ])
      assert.ok((stdout + stderr).includes(`list ${resource}`), stdout + stderr);
  }
});

test('a report that nobody keeps any more is not believed', async () => {
  await Promise.all(cluster.replicas.map((replica) => replica.stop()));
  const path = '/apis/coordination.k8s.io/v1/namespaces/svc-system/leases/svc-operator';
  await kube.must('PATCH', path, { spec: { renewTime: '2020-01-01T00:00:00.000000Z' } });
  const { workloads, nodes, summary } = await report();
  assert.is(summary.fromReports, 0);
  assert.equal(nodes, []);
  const told = workloads.find(({ name }) => name === 'told');
  assert.match(told?.because ?? '', /No operator leads.*2020-01-01/);
  assert.is(told?.addends.find(({ name }) => name === 'enforcement')?.points, 0);
});

test('an API server that is away is no verdict', async () => {
  await kube.pause();
  const { status, stderr } = await audit();
  assert.is(status, 4);
  assert.match(stderr, /AUDIT_UNREACHABLE/);
});

test.run();
