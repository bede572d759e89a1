import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CHART, type Helm, helm, type Manifest, manifest } from '../../support/helm.ts';
import { INSTALLATIONS } from './values.ts';

/** A helm for each of many installations. */
export const timeout = 300_000;

const test = suite<{ helm: Helm }>('chart');

test.before(async (context) => {
  context.helm = await helm();
});
test.after(({ helm }) => helm?.remove());

const operatorOf = (all: readonly Manifest[]) => manifest(all, 'Deployment', 'svc-operator').spec;
const agentOf = (all: readonly Manifest[]) => manifest(all, 'DaemonSet', 'svc-ebpf').spec.template.spec;
const variables = (container: Manifest) =>
  Object.fromEntries(container.env.map(({ name, value }: Manifest) => [name, value]));

test('helm lint finds nothing, strictly', async ({ helm }) => {
  const { status, stdout, stderr } = await helm.run(['lint', '--strict', '--namespace=svc-system', CHART]);
  assert.is(status, 0, stdout + stderr);
});

test('every object has the fixed namespace, or none at all', async ({ helm }) => {
  const clusterWide = [
    ...['Namespace', 'ClusterRole', 'ClusterRoleBinding', 'CustomResourceDefinition'],
    ...['MutatingWebhookConfiguration', 'ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'],
  ];
  for (const { values, options } of Object.values(INSTALLATIONS))
    for (const { kind, metadata } of await helm.render(values, options)) {
      const expected = clusterWide.includes(kind) ? undefined : 'svc-system';
      assert.is(metadata.namespace, expected, `${kind} ${metadata.name}`);
    }
});

test('no object comes twice', async ({ helm }) => {
  for (const { values, options } of Object.values(INSTALLATIONS)) {
    const names = (await helm.render(values, options)).map(
      ({ kind, metadata }) => `${kind}/${metadata.name}`,
    );
    assert.equal(names, [...new Set(names)]);
  }
});

test('resources are those that the specification recommends', async ({ helm }) => {
  const all = await helm.render();
  assert.equal(operatorOf(all).template.spec.containers[0].resources, {
    requests: { cpu: '50m', memory: '64Mi' },
    limits: { cpu: '200m', memory: '128Mi' },
  });
  assert.equal(agentOf(all).containers[0].resources, {
    requests: { cpu: '100m', memory: '128Mi' },
    limits: { cpu: '500m', memory: '512Mi' },
  });
});

test('nothing is ended before it has been silent for a minute, as on a node that is short of processor time', async ({
  helm,
}) => {
  const all = await helm.render();
  for (const [{ livenessProbe: probe }] of [
    operatorOf(all).template.spec.containers,
    agentOf(all).containers,
  ])
    assert.is((probe.periodSeconds ?? 10) * (probe.failureThreshold ?? 3), 60);
});

test('the agent is what the specification says it is', async ({ helm }) => {
  const pod = agentOf(await helm.render());
  assert.is(pod.hostPID, true);
  assert.is(pod.priorityClassName, 'system-node-critical');
  assert.equal(pod.tolerations, [{ operator: 'Exists' }]);
  const { privileged, capabilities } = pod.containers[0].securityContext;
  assert.is(privileged, true);
  assert.equal(capabilities.add, ['SYS_ADMIN', 'SYS_PTRACE', 'NET_ADMIN', 'SYS_RESOURCE']);
  const host = pod.volumes.flatMap(({ hostPath }: Manifest) => (hostPath ? [hostPath.path] : []));
  assert.equal(host, ['/run/svc', '/sys/fs/bpf', '/sys/fs/cgroup']);
});

test('enforceMode and reactiveKill reach the agent', async ({ helm }) => {
  const of = async (values: object) => {
    const set = variables(agentOf(await helm.render(values)).containers[0]);
    return [set['SVC_AGENT_ENFORCE'], set['SVC_AGENT_REACTIVE_KILL']];
  };
  assert.equal(await of({}), ['true', 'false']);
  assert.equal(await of({ enforceMode: false }), ['false', 'false']);
  assert.equal(await of({ reactiveKill: true }), ['true', 'true']);
  // in an incident nothing else has to be changed
  assert.equal(await of({ reactiveKill: true, enforceMode: false }), ['false', 'true']);
});

test('one replica takes part in the election, and its successor is ready before it ends', async ({
  helm,
}) => {
  const spec = operatorOf(await helm.render());
  assert.is(spec.replicas, 1);
  assert.equal(spec.strategy, { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
  assert.is(variables(spec.template.spec.containers[0])['SVC_OPERATOR_LEADER_ELECT'], 'true');
});

test('high availability: three on three nodes, one leader, a disruption budget', async ({ helm }) => {
  const all = await helm.render({ operator: { ha: true } });
  const spec = operatorOf(all);
  assert.is(spec.replicas, 3);
  const [rule] = spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution;
  assert.is(rule.topologyKey, 'kubernetes.io/hostname');
  assert.equal(rule.labelSelector.matchLabels, spec.selector.matchLabels);
  assert.is(variables(spec.template.spec.containers[0])['SVC_OPERATOR_LEADER_ELECT'], 'true');
  const budget = manifest(all, 'PodDisruptionBudget', 'svc-operator').spec;
  assert.is(budget.minAvailable, 1);
  assert.equal(budget.selector.matchLabels, spec.selector.matchLabels);
});

test('a single replica has no budget, which would keep its node from being drained', async ({ helm }) => {
  assert.throws(() => manifest([], 'PodDisruptionBudget', 'svc-operator'));
  const kinds = (await helm.render()).map(({ kind }) => kind);
  assert.not.ok(kinds.includes('PodDisruptionBudget'));
});

test('garbage of proxies is collected where it is asked for: a restricted pod without a role, a token or a way but to the store', async ({
  helm,
}) => {
  assert.not.ok((await helm.render()).some(({ kind }) => kind === 'CronJob'));
  const { values } = INSTALLATIONS['collecting garbage of a private store'] ?? {};
  const all = await helm.render(values);
  const own = all.filter(({ metadata }) => metadata.name.startsWith('svc-proxy-gc'));
  assert.equal(own.map(({ kind }) => kind).sort(), [
    'ConfigMap',
    'CronJob',
    'NetworkPolicy',
    'ServiceAccount',
  ]);
  const { spec, metadata } = manifest(all, 'CronJob', 'svc-proxy-gc').spec.jobTemplate.spec.template;
  const [container] = spec.containers;
  assert.equal(container.args, ['proxy', 'gc']);
  assert.equal(container.image, 'svc/proxy:0.1.0');
  assert.is(spec.automountServiceAccountToken, false);
  assert.is(spec.securityContext.runAsNonRoot, true);
  assert.is(spec.securityContext.seccompProfile.type, 'RuntimeDefault');
  assert.equal(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  const policy = manifest(all, 'NetworkPolicy', 'svc-proxy-gc').spec;
  for (const [name, value] of Object.entries(policy.podSelector.matchLabels))
    assert.is(metadata.labels[name], value);
  assert.equal(policy.egress, [
    { to: [{ ipBlock: { cidr: '10.0.0.9/32' } }], ports: [{ protocol: 'TCP', port: 9000 }] },
  ]);
});

test('the webhook asks about pods that are made, in two entries, and fails closed', async ({ helm }) => {
  const { webhooks } = manifest(await helm.render(), 'MutatingWebhookConfiguration', 'svc-operator');
  assert.equal(
    webhooks.map(({ name }: Manifest) => name),
    ['annotated.svc.io', 'namespace.svc.io'],
  );
  for (const webhook of webhooks) {
    assert.is(webhook.failurePolicy, 'Fail');
    assert.is(webhook.sideEffects, 'None');
    assert.is(webhook.reinvocationPolicy, 'IfNeeded');
    assert.is(webhook.timeoutSeconds, 10);
    assert.equal(webhook.rules[0].operations, ['CREATE']);
    assert.equal(webhook.namespaceSelector.matchExpressions, [
      { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system', 'svc-system'] },
    ]);
  }
  assert.is(webhooks[0].namespaceSelector.matchLabels, undefined);
  assert.equal(webhooks[1].namespaceSelector.matchLabels, { 'svc/protected': 'true' });
});

test('the admission policy is there from Kubernetes 1.30 on, where the webhook fails closed', async ({
  helm,
}) => {
  const open = { operator: { development: true, webhook: { failurePolicy: 'Ignore' } } };
  for (const [values, version, count] of [
    [{}, '1.30.0', 2],
    [{}, '1.29.9', 0],
    [open, '1.30.0', 0],
  ] as const) {
    const all = await helm.render(values, [`--kube-version=${version}`]);
    assert.is(all.filter(({ kind }) => kind.startsWith('ValidatingAdmission')).length, count, version);
  }
});

test('services lead to the ports that the operator listens on', async ({ helm }) => {
  const all = await helm.render();
  const ports = new Map(
    operatorOf(all).template.spec.containers[0].ports.map((port: Manifest) => [
      port.name,
      port.containerPort,
    ]),
  );
  const lead = (name: string) => {
    const { spec } = manifest(all, 'Service', name);
    assert.equal(spec.selector, operatorOf(all).selector.matchLabels);
    return spec.ports.map(({ port, targetPort }: Manifest) => [port, ports.get(targetPort)]);
  };
  assert.equal(lead('svc-operator'), [[443, 9443]]);
  assert.equal(lead('svc-operator-metrics'), [[8080, 8080]]);
  assert.equal(lead('svc-operator-agents'), [[8199, 8199]]);
  assert.is(manifest(all, 'Service', 'svc-operator-agents').spec.clusterIP, 'None');
});

test('a change of the authority starts new pods, another value does not', async ({ helm }) => {
  const authority = (text: string, name = 'vaultCA') => ({
    [name]: `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----`,
  });
  const annotations = async (operator: object) =>
    operatorOf(await helm.render({ operator })).template.metadata.annotations;
  const before = await annotations(authority('MIIA'));
  assert.not.equal(await annotations(authority('MIIB')), before);
  assert.not.equal(await annotations({ ...authority('MIIA'), ...authority('MIIB', 'storeCA') }), before);
  assert.equal(await annotations({ ...authority('MIIA'), webhook: { timeoutSeconds: 5 } }), before);
});

test('images: registry, tag, digest', async ({ helm }) => {
  const image = async (values: object) =>
    operatorOf(await helm.render(values)).template.spec.containers[0].image;
  assert.is(await image({}), 'svc/operator:0.1.0');
  assert.is(
    await image({ registry: 'r.example', operator: { image: { tag: '1' } } }),
    'r.example/svc/operator:1',
  );
  const digest = `sha256:${'0'.repeat(64)}`;
  assert.is(await image({ operator: { image: { digest, tag: '1' } } }), `svc/operator@${digest}`);
});

test('without agents, pods are not told of a socket', async ({ helm }) => {
  const socket = async (values: object) =>
    variables(operatorOf(await helm.render(values)).template.spec.containers[0])['SVC_OPERATOR_AGENT_SOCKET'];
  assert.is(await socket({}), '/run/svc/agent.sock');
  assert.is(await socket({ ebpf: { enabled: false } }), undefined);
});

test.run();
