import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checks } from '../../../../src/plugins/validate/registry.ts';
import { caBundle, now } from '../cluster/authority.ts';
import type { FakeObject } from '../cluster/fake-cluster.ts';
import { added, admitting, answering, changed, fixtureOf, without } from '../cluster/fixture-of.ts';
import { levels, verdictOf } from '../cluster/verdict-of.ts';

const test = suite('verdicts on a cluster');

const withInfo = (info: object) =>
  changed('Node', 'node-1', (node) => ({
    ...node,
    status: { nodeInfo: { ...node['status'].nodeInfo, ...info } },
  }));

test('a kernel below 5.14 is an error, 5.14 a warning, 5.15 right, and one that is not told nothing', async () => {
  const kernel = (kernelVersion: string) => fixtureOf(withInfo({ kernelVersion }));
  assert.equal(await levels('SVC-CLUSTER-002', kernel('5.13.19')), ['error']);
  assert.equal(await levels('SVC-CLUSTER-002', kernel('4.18.0-553.el8.x86_64')), ['error']);
  assert.equal(await levels('SVC-CLUSTER-002', kernel('5.14.0-427.el9.x86_64')), ['warning']);
  assert.is((await verdictOf('SVC-CLUSTER-002', kernel('5.15.0-1044-aks'))).state, 'passed');
  assert.is((await verdictOf('SVC-CLUSTER-002', kernel('unknown'))).state, 'not-evaluated');
});

test('an unsupported node without protected pods is a warning, Autopilot never', async () => {
  const labelled = (labels: object) =>
    fixtureOf(
      changed('Node', 'node-1', (node) => ({ ...node, metadata: { ...node.metadata, labels } })),
      without('Pod', 'web'),
    );
  assert.equal(await levels('SVC-CLUSTER-003', labelled({ type: 'virtual-kubelet' })), ['warning']);
  assert.equal(
    await levels('SVC-CLUSTER-003', labelled({ 'cloud.google.com/gke-provisioning': 'autopilot' })),
    ['error'],
  );
});

const refusing = (message: string) => fixtureOf(admitting(() => message));
const called = 'failed calling webhook "annotated.svc.io": failed to call webhook: Post "https://x": ';

test('what a dry run says is told apart', async () => {
  const verdict = async (id: string, message: string) =>
    JSON.stringify(await verdictOf(id, refusing(message)));
  assert.match(await verdict('SVC-OPERATOR-012', `${called}context deadline exceeded`), /cannot start/);
  assert.match(await verdict('SVC-OPERATOR-010', `${called}context deadline exceeded`), /"skipped"/);
  assert.match(await verdict('SVC-OPERATOR-010', `${called}tls: x509: unknown authority`), /"failed".*x509/);
  const denied = 'admission webhook "annotated.svc.io" denied the request: svc/vault-role: no';
  assert.match(await verdict('SVC-OPERATOR-012', denied), /refuses a pod that it should protect/);
  const other = 'admission webhook "policy.example" denied the request: no such registry';
  assert.match(await verdict('SVC-OPERATOR-012', other), /"not-evaluated".*no such registry/);
  const forbidden =
    'pods is forbidden: User "me" cannot create resource "pods" in API group "" in the namespace "default"';
  assert.match(await verdict('SVC-OPERATOR-012', forbidden), /"permission":"create pods in default"/);
});

test('a webhook that changes nothing shows no certificate, and one without entries nothing at all', async () => {
  const ignoring = fixtureOf(admitting((pod) => pod));
  assert.is((await verdictOf('SVC-OPERATOR-010', ignoring)).state, 'not-evaluated');
  const empty = fixtureOf(
    changed('MutatingWebhookConfiguration', 'svc-operator', (one) => ({ ...one, webhooks: [] })),
  );
  for (const id of ['SVC-OPERATOR-008', 'SVC-OPERATOR-009', 'SVC-OPERATOR-010'])
    assert.is((await verdictOf(id, empty)).state, 'skipped', id);
  assert.is((await verdictOf('SVC-OPERATOR-007', empty)).state, 'failed');
});

test('an admission policy that does not deny is found, and one that there cannot be is not missed', async () => {
  const policy = 'ValidatingAdmissionPolicy';
  const changedTo = (kind: string, change: object) =>
    fixtureOf(changed(kind, 'svc-operator', (one) => ({ ...one, spec: { ...one['spec'], ...change } })));
  const said = async (fixture: ReturnType<typeof fixtureOf>) =>
    JSON.stringify(await verdictOf('SVC-OPERATOR-022', fixture));
  const binding = `${policy}Binding`;
  assert.match(await said(changedTo(binding, { validationActions: ['Audit'] })), /does not deny/);
  assert.match(await said(changedTo(binding, { policyName: 'other' })), /for the policy other/);
  assert.match(await said(changedTo(binding, { matchResources: {} })), /some pods only/);
  assert.match(
    await said(changedTo(policy, { failurePolicy: 'Ignore' })),
    /failurePolicy of the policy is Ignore/,
  );
  assert.match(await said(changedTo(policy, { validations: [] })), /validates nothing/);
  assert.match(await said(fixtureOf(without(policy, 'svc-operator'))), /no such ValidatingAdmissionPolicy\./);
  const old = fixtureOf(without(policy, 'svc-operator'), (cluster) => ({
    ...cluster,
    version: { major: '1', minor: '29' },
  }));
  assert.match(await said(old), /"skipped".*from 1\.30 on/);
});

test('nodes that no agent can run on do not count as covered', async () => {
  const fargate = changed('Node', 'node-1', (node) => ({
    ...node,
    metadata: { ...node.metadata, labels: { 'eks.amazonaws.com/compute-type': 'fargate' } },
  }));
  assert.is((await verdictOf('SVC-AGENT-001', fixtureOf(fargate))).state, 'skipped');
});

test('proxies that cannot be asked keep the store from being passed over', async () => {
  const silent = await verdictOf('SVC-NET-004', fixtureOf(answering('shop/web:8090/metrics', undefined)));
  assert.match(JSON.stringify(silent), /"not-evaluated".*shop\/web: .*connection refused/);
  const idle = await verdictOf('SVC-NET-004', fixtureOf(answering('shop/web:8090/metrics', '')));
  assert.is(idle.state, 'skipped');
});

test('a CA bundle that ends soon is a warning, one that has ended an error, and rubbish too', async () => {
  const at = (time: number) => () => ({ ...fixtureOf()(), now: () => time });
  const day = 86_400_000;
  assert.equal(await levels('SVC-OPERATOR-010', at(now + 0.95 * day)), ['warning', 'warning']);
  assert.equal(await levels('SVC-OPERATOR-010', at(now + 2 * day)), ['error', 'error']);
  const bundle = (text: string) => (configuration: FakeObject) => ({
    ...configuration,
    webhooks: configuration['webhooks'].map((one: { clientConfig: object }) => ({
      ...one,
      clientConfig: { ...one.clientConfig, caBundle: text },
    })),
  });
  for (const text of ['', 'bm9uZQ==', caBundle.slice(0, 600)])
    assert.equal(
      await levels(
        'SVC-OPERATOR-010',
        fixtureOf(changed('MutatingWebhookConfiguration', 'svc-operator', bundle(text))),
      ),
      ['error', 'error'],
      text,
    );
});

test('selectors that leave a namespace out, and such as take in the cluster itself, are found by name', async () => {
  const selecting = (namespaceSelector: object) =>
    fixtureOf(
      changed('MutatingWebhookConfiguration', 'svc-operator', (configuration) => ({
        ...configuration,
        webhooks: configuration['webhooks'].map((one: object) => ({ ...one, namespaceSelector })),
      })),
    );
  const leaving = {
    matchExpressions: [
      {
        key: 'kubernetes.io/metadata.name',
        operator: 'NotIn',
        values: ['shop', 'kube-system', 'svc-system'],
      },
    ],
  };
  assert.match(JSON.stringify(await verdictOf('SVC-OPERATOR-009', selecting(leaving))), /"subject":"shop"/);
  assert.match(
    JSON.stringify(await verdictOf('SVC-OPERATOR-009', selecting({}))),
    /"subject":"kube-system".*cannot start/,
  );
});

test('agents that cannot be asked keep tiers from passing, and one that is ready is still proven', async () => {
  const silent = fixtureOf(answering('svc-system/svc-ebpf-1:9090/metrics', undefined));
  assert.match(
    JSON.stringify(await verdictOf('SVC-AGENT-003', silent)),
    /"not-evaluated".*connection refused/,
  );
  assert.is((await verdictOf('SVC-AGENT-002', silent)).state, 'passed');
  const page = (tier: string, enforcing: number) =>
    fixtureOf(
      answering(
        'svc-system/svc-ebpf-1:9090/metrics',
        `svc_agent_tier{tier="${tier}"} 1\nsvc_agent_enforcing ${enforcing}`,
      ),
    );
  assert.equal(await levels('SVC-AGENT-003', page('tracepoint', 1)), ['warning']);
  assert.equal(await levels('SVC-AGENT-003', page('tracepoint', 0)), ['error']);
  assert.equal(await levels('SVC-AGENT-003', page('none', 0)), ['error']);
  assert.is((await verdictOf('SVC-AGENT-003', page('fmod_ret', 1))).state, 'passed');
});

test('a wrapper that nobody reaches counts against it only where its pod is not ready either', async () => {
  const silent = answering('shop/web:8081/healthz', undefined);
  assert.is((await verdictOf('SVC-NET-001', fixtureOf(silent))).state, 'not-evaluated');
  const waiting = changed('Pod', 'web', (pod) => ({ ...pod, status: { phase: 'Running' } }));
  assert.is((await verdictOf('SVC-NET-001', fixtureOf(silent, waiting))).state, 'failed');
});

const checkable = ['SVC-CLUSTER-001', 'SVC-CLUSTER-002', 'SVC-CLUSTER-003', 'SVC-CLUSTER-004'];
const needed = ['SVC-OPERATOR-001', 'SVC-OPERATOR-005', 'SVC-OPERATOR-007', 'SVC-OPERATOR-012'];
const missing = [...needed, 'SVC-AGENT-001', 'SVC-EGRESS-003'];

test('what has no object in a cluster is skipped, never passed', async () => {
  const empty = fixtureOf((cluster) => ({
    objects: cluster.objects.filter(({ kind }) => kind === 'Node' || kind === 'Namespace'),
    admit: (pod) => pod,
  }));
  for (const { id, needs } of checks) {
    if (needs !== 'cluster') continue;
    const otherwise = missing.includes(id) ? 'failed' : 'skipped';
    const result = await verdictOf(id, empty);
    assert.is(result.state, checkable.includes(id) ? 'passed' : otherwise, `${id} ${JSON.stringify(result)}`);
  }
});

test('a policy that was changed, and one of somebody else in its place, are errors', async () => {
  const widened = changed('NetworkPolicy', 'svc-egress-shop', ({ spec, ...policy }) => ({
    ...policy,
    spec: { ...spec, egress: [...spec.egress, { to: [{ ipBlock: { cidr: '0.0.0.0/0' } }] }] },
  }));
  assert.equal(await levels('SVC-EGRESS-001', fixtureOf(widened)), ['error']);
  const foreign = added({
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
    metadata: { name: 'svc-egress-shop', namespace: 'shop' },
    spec: { podSelector: {}, policyTypes: ['Egress'], egress: [] },
  });
  const found = await verdictOf(
    'SVC-EGRESS-001',
    fixtureOf(without('NetworkPolicy', 'svc-egress-shop'), foreign),
  );
  assert.match(JSON.stringify(found), /not kept by the operator/);
});

test.run();
