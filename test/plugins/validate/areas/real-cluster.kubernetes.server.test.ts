import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createGuardMetrics } from '../../../../src/plugins/agent/index.ts';
import { createPodWatchState } from '../../../../src/plugins/agent/pods/pod-watch-state.ts';
import type { CheckResult } from '../../../../src/plugins/validate/check.ts';
import { createMetrics } from '../../../../src/runtime/health/create-metrics.ts';
import { createHealth } from '../../../../src/runtime/health/health.ts';
import type { Kubernetes } from '../../../support/kubernetes.ts';
import { type OperatorCluster, startOperatorCluster } from '../../../support/operator-cluster.ts';
import { quietLog } from '../../../support/quiet-log.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { agentToken, tellOperator } from '../../audit/cluster/telling-agent.ts';
import { accountWith, documentedRules } from '../cluster/accounts.ts';
import { type PageServer, startPageServer } from '../cluster/page-server.ts';
import { chartPod, node, populate, type RunningPod, runPod, vault, wrappedPod } from '../cluster/populate.ts';
import { runClusterChecks } from '../cluster/run-cluster-checks.ts';
import { runProbes } from '../cluster/run-probes.ts';
import { runValidate } from '../run-validate.ts';

export const idle = true;
export const timeout = 240_000;
const test = suite('svc validate of a real cluster');
const webhook = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/svc-operator';
const policies = '/apis/networking.k8s.io/v1/namespaces';

let cluster: OperatorCluster;
let kube: Kubernetes;
let namespace: string;
let wrapper: PageServer;
let agent: PageServer;

test.before(async () => {
  cluster = await startOperatorCluster({ values: { operator: { vaultAddress: vault, leaderElect: true } } });
  kube = cluster.kubernetes;
  [wrapper, agent] = await Promise.all([startPageServer(), startPageServer()]);
  namespace = await kube.createNamespace();
  await populate(kube);
  await runPod(kube, chartPod('svc-ebpf', 'svc-ebpf-1', agent.address, 'health', agent.port));
  const { name, started } = await cluster.leader();
  const [host = '', port] = (started['metrics'] ?? '').split(':');
  await runPod(kube, chartPod('svc-operator', name, host, 'metrics', Number(port)));
  await runPod(kube, trustingStore(wrappedPod(namespace, 'web', wrapper.address, wrapper.port)));
  await createStoreCa();
  wrapper.pages.set('/healthz', '{"status":"ok"}');
  agent.pages.set('/metrics', await agentPage(true));
  await kube.must('POST', `/apis/svc.io/v1alpha1/namespaces/${namespace}/serviceconfigs`, {
    ...{ apiVersion: 'svc.io/v1alpha1', kind: 'ServiceConfig' },
    metadata: { name: 'shop' },
    spec: {
      selector: { matchLabels: { app: 'shop' } },
      vault: { role: 'shop' },
      secretPaths: ['secret/shop'],
    },
  });
});

test.after(async () => {
  await Promise.all([wrapper?.stop(), agent?.stop(), cluster?.stop()]);
});

/** With the authorities of its object store, as svc/proxy-store-ca names them. */
function trustingStore(pod: RunningPod): RunningPod {
  const { volumes, ...spec } = pod.spec as { readonly volumes: readonly object[] };
  const configMap = { name: 'store-ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] };
  return { ...pod, spec: { ...spec, volumes: [...volumes, { name: 'svc-store-ca', configMap }] } };
}

const createStoreCa = () =>
  kube.must('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
    metadata: { name: 'store-ca' },
    data: { 'ca.crt': 'PEM' },
  });

/** As the agent itself writes it. */
async function agentPage(enforcing: boolean): Promise<string> {
  const metrics = await createMetrics({ version: '0.1.0', component: 'agent' });
  createGuardMetrics(metrics).status({ tier: 1, enforcing, reason: '', passedOver: [] });
  const watch = createPodWatchState({ log: quietLog, metrics, health: createHealth() });
  watch.pass({ covered: new Set(['web']), uncovered: new Map() }, (uid) => uid);
  return (await metrics.expose()).body;
}

const results = (only?: readonly string[], token?: string) => runClusterChecks(kube.kubeconfig(token), only);

async function result(id: string, token?: string): Promise<CheckResult | undefined> {
  return (await results([id], token)).get(id);
}

/** Repeats the change: the operator puts right what is its own. */
async function found(id: string, change: () => Promise<unknown>, what: RegExp): Promise<void> {
  await waitFor(`${id} to fail`, async () => {
    await change();
    const now = await result(id);
    return now?.state === 'failed' && now.failures.some(({ message }) => what.test(message));
  });
}

const state = (id: string, wanted: CheckResult['state']) =>
  waitFor(`${id} to be ${wanted}`, async () => (await result(id))?.state === wanted);

const patchEntries = (change: object) => async () => {
  const { webhooks } = await kube.must('GET', webhook);
  const changed = webhooks.map((one: object) => ({ ...one, ...change }));
  await kube.must('PATCH', webhook, { webhooks: changed });
};

test('passes what is as it should be', async () => {
  const { json } = await kube.request('GET', `/api/v1/namespaces/${namespace}/pods/web`);
  const { uid } = (json as { metadata: { uid: string } }).metadata;
  const leader = await cluster.leader();
  const token = await agentToken(kube, 'svc-ebpf-1');
  const told = [{ podUid: uid, labelled: true, covered: true }];
  await waitFor('the agent to be heard', () =>
    tellOperator(kube, leader.started['grpc'] ?? '', node, told, token).then(
      () => true,
      () => false,
    ),
  );
  const expected: Readonly<Record<string, CheckResult['state']>> = {
    'SVC-NET-003': 'skipped',
    'SVC-NET-004': 'skipped',
    'SVC-NET-005': 'skipped',
    'SVC-OPERATOR-003': 'failed',
    'SVC-OPERATOR-014': 'skipped',
    'SVC-OPERATOR-016': 'skipped',
    // its network has no plugin at all
    'SVC-EGRESS-003': 'failed',
    'SVC-EGRESS-004': 'skipped',
    'SVC-EGRESS-005': 'skipped',
    // its pod logs in with the token that every pod has
    'SVC-OPERATOR-020': 'failed',
    // its pod takes every field of its path
    'SVC-OPERATOR-023': 'failed',
  };
  const odd = await waitFor('all checks to settle', async () => {
    const all = [...(await results())].filter(([id, { state }]) => state !== (expected[id] ?? 'passed'));
    last = all;
    return all.length === 0 ? all : undefined;
  }).catch(() => last);
  assert.equal(odd, []);
});

let last: unknown = [];

test('finds a CA bundle that the certificate does not come from', async () => {
  const { createCertificateAuthority } = await import('../../../support/certificates.ts');
  const caBundle = Buffer.from(createCertificateAuthority().cert).toString('base64');
  const { webhooks } = await kube.must('GET', webhook);
  const service = webhooks[0].clientConfig.service;
  await found('SVC-OPERATOR-010', patchEntries({ clientConfig: { service, caBundle } }), /x509/);
  await found('SVC-OPERATOR-012', patchEntries({ clientConfig: { service, caBundle } }), /cannot start/);
  await state('SVC-OPERATOR-012', 'passed');
  await state('SVC-OPERATOR-010', 'passed');
});

test('finds a webhook that fails open, and one that is not asked about a pod', async () => {
  await found('SVC-OPERATOR-008', patchEntries({ failurePolicy: 'Ignore' }), /failurePolicy is Ignore/);
  await patchEntries({ failurePolicy: 'Fail' })();
  await state('SVC-OPERATOR-008', 'passed');
  const narrow = { objectSelector: { matchLabels: { wanted: 'true' } } };
  await found('SVC-OPERATOR-009', patchEntries(narrow), /objectSelector/);
  await found('SVC-OPERATOR-012', patchEntries(narrow), /without the wrapper, and only the admission policy/);
  await found('SVC-OPERATOR-019', patchEntries(narrow), /without the wrapper/);
  await patchEntries({ objectSelector: {} })();
  await state('SVC-OPERATOR-012', 'passed');
});

test('finds an admission policy that nothing binds', async () => {
  const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/svc-operator';
  const { metadata, ...binding } = await kube.must('GET', path);
  await kube.must('DELETE', path);
  assert.match(
    JSON.stringify(await result('SVC-OPERATOR-022')),
    /"failed".*ValidatingAdmissionPolicyBinding/,
  );
  await kube.apply({ ...binding, metadata: { name: metadata.name } });
  assert.is((await result('SVC-OPERATOR-022'))?.state, 'passed');
});

test('creates no pod to see what becomes of one', async () => {
  await results(['SVC-OPERATOR-012', 'SVC-OPERATOR-019']);
  for (const place of ['default', namespace]) {
    const { items } = await kube.must('GET', `/api/v1/namespaces/${place}/pods`);
    const names = items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
    assert.not.ok(
      names.some((name: string) => name.startsWith('svc-validate')),
      names.join(),
    );
  }
});

test('asks agents and wrappers through the API server', async () => {
  agent.pages.set('/metrics', await agentPage(false));
  wrapper.pages.delete('/healthz');
  const failing = await results(['SVC-AGENT-003', 'SVC-NET-001']);
  assert.match(JSON.stringify(failing.get('SVC-AGENT-003')), /"subject":"node-1".*not stopped/);
  assert.match(JSON.stringify(failing.get('SVC-NET-001')), /has not fetched its secrets/);
  wrapper.pages.set('/healthz', 'ok');
  agent.pages.set('/metrics', await agentPage(true));
});

test('finds a policy of others that lets protected pods reach more', async () => {
  const path = `${policies}/${namespace}/networkpolicies`;
  await kube.must('POST', path, {
    metadata: { name: 'wide' },
    spec: { podSelector: {}, policyTypes: ['Egress'], egress: [{}] },
  });
  const wide = await result('SVC-EGRESS-002');
  assert.match(JSON.stringify(wide), new RegExp(`"subject":"${namespace}/wide"`));
  await kube.must('DELETE', `${path}/wide`);
  assert.is((await result('SVC-EGRESS-002'))?.state, 'passed');
});

test('measures from pods whether policies are enforced, and removes them', async () => {
  const id = 'SVC-EGRESS-004';
  const probing = async (enforced: boolean) => {
    const kubelet = runProbes(kube, namespace, ({ covered }) => (covered && enforced ? nowhere : wrapper));
    try {
      return (await runClusterChecks(kube.kubeconfig(), [id], { probePods: true })).get(id);
    } finally {
      await kubelet.stop();
    }
  };
  assert.is((await probing(true))?.state, 'passed');
  assert.match(JSON.stringify(await probing(false)), /"failed".*A protected pod reaches 10\./);
  const { items } = await kube.must('GET', `/api/v1/namespaces/${namespace}/pods`);
  assert.equal(
    items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
    ['web'],
  );
});

/** A broadcast address, to which no connection can be made. */
const nowhere = { address: '255.255.255.255', port: 9 };

test('finds a ConfigMap that a pod mounts and that is gone', async () => {
  await kube.must('DELETE', `/api/v1/namespaces/${namespace}/configmaps/store-ca`);
  const gone = JSON.stringify(await result('SVC-OPERATOR-021'));
  assert.match(
    gone,
    new RegExp(`"subject":"${namespace}/store-ca".*no such ConfigMap: the pod ${namespace}/web`),
  );
  await createStoreCa();
  assert.is((await result('SVC-OPERATOR-021'))?.state, 'passed');
});

test('needs no more than the role that the page gives', async () => {
  const token = await accountWith(kube, { namespace, name: 'validator' }, documentedRules());
  const all = await results(undefined, token);
  const unknown = [...all].filter(([, { state }]) => state === 'not-evaluated');
  assert.equal(unknown, []);
  assert.is(all.get('SVC-OPERATOR-012')?.state, 'passed');
  assert.is(all.get('SVC-OPERATOR-021')?.state, 'passed');
});

test('svc validate itself ends with the same status in every format', async () => {
  const env = { KUBECONFIG: kube.kubeconfig() };
  const area = ['cluster', 'operator', 'agent', 'egress'] as const;
  // the chart is of 0.1.0, which is a warning, and the plugin is not known
  const { status, stdout } = await runValidate({ output: 'table', pre: false, area }, env);
  assert.is(status, 0, stdout);
  for (const output of ['table', 'short', 'json', 'junit', 'sarif'] as const) {
    const failing = await runValidate({ output, pre: false, area, 'fail-on': 'warning' }, env);
    assert.is(failing.status, 2, output);
    assert.match(failing.stdout, /SVC-EGRESS-003/);
  }
});

test('names the verb and the resource that it may not use', async () => {
  const token = await accountWith(kube, { namespace, name: 'reader' }, [
    { apiGroups: [''], resources: ['pods', 'namespaces'], verbs: ['list'] },
    { apiGroups: ['svc.io'], resources: ['serviceconfigs'], verbs: ['list'] },
    { apiGroups: ['apps'], resources: ['deployments', 'daemonsets'], verbs: ['get'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get'] },
  ]);
  const all = await results(undefined, token);
  const missing = (id: string) => {
    const one = all.get(id);
    return one?.state === 'not-evaluated' ? one.permission : JSON.stringify(one);
  };
  assert.is(missing('SVC-CLUSTER-002'), 'list nodes');
  assert.is(missing('SVC-AGENT-003'), 'get pods/proxy in svc-system');
  assert.is(missing('SVC-NET-001'), `get pods/proxy in ${namespace}`);
  assert.is(missing('SVC-OPERATOR-005'), 'get customresourcedefinitions.apiextensions.k8s.io');
  assert.is(missing('SVC-OPERATOR-008'), 'get mutatingwebhookconfigurations.admissionregistration.k8s.io');
  assert.is(missing('SVC-OPERATOR-012'), 'create pods in default');
  assert.is(missing('SVC-OPERATOR-014'), 'list secretmappings.svc.io');
  assert.is(missing('SVC-OPERATOR-021'), 'list configmaps');
  assert.is(missing('SVC-EGRESS-001'), 'list networkpolicies.networking.k8s.io');
  assert.is(all.get('SVC-OPERATOR-001')?.state, 'passed');
});

test('without an operator finds what it kept, and what nobody keeps any more', async () => {
  await Promise.all(cluster.replicas.map((replica) => replica.stop()));
  const path = `${policies}/${namespace}/networkpolicies/svc-egress-${namespace}`;
  assert.is((await result('SVC-EGRESS-001'))?.state, 'passed');
  await kube.must('PATCH', path, { spec: { egress: [{}] } });
  assert.match(JSON.stringify(await result('SVC-EGRESS-001')), /differs from what svc netpol/);
  await kube.must('DELETE', path);
  assert.match(JSON.stringify(await result('SVC-EGRESS-001')), /protected pods reach everything/);
  assert.match(JSON.stringify(await result('SVC-OPERATOR-012')), /cannot start/);
  assert.is((await result('SVC-OPERATOR-010'))?.state, 'skipped');
  const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/secretmappings.svc.io';
  await kube.must('DELETE', definition);
  await found('SVC-OPERATOR-005', async () => {}, /no such custom resource/);
});

test('an API server that is away is no verdict', async () => {
  await kube.pause();
  const all = await results();
  const asked = [...all].filter(([id]) => id !== 'SVC-EGRESS-004');
  assert.equal([...new Set(asked.map(([, { state }]) => state))], ['not-evaluated']);
});

test.run();
