import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseAllDocuments } from 'yaml';
import type { NetworkPolicy } from '../../../src/cluster/egress/contract.ts';
import type { LogFields } from '../../../src/runtime/logging/logger.ts';
import { type Kubernetes, startKubernetes } from '../../support/kubernetes.ts';
import { freePort } from '../../support/ports.ts';
import { runCommand } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  furnish,
  type Operator,
  operatorAccount,
  policyPath,
  protectedPod,
  startOperator,
} from '../operator/egress/rig.ts';

interface Rig {
  kube: Kubernetes;
  /** One with protected pods, of this test alone. */
  namespace: string;
}

const entry = join(fileURLToPath(new URL('../../..', import.meta.url)), 'bin', 'run.js');
const home = temporaryFolder('netpol');
const test = suite<Rig>('svc netpol beside an API server');
const vault = 'https://203.0.113.7:8200';

test.before(async (rig) => {
  rig.kube = await startKubernetes();
  await furnish(rig.kube);
});
test.after(async ({ kube }) => {
  await kube?.stop();
  await home.remove();
});
test.before.each(async (rig) => {
  rig.namespace = await rig.kube.createNamespace();
  await rig.kube.apply(protectedPod(rig.namespace, 'one', { vault }));
});

function netpol(kubeconfig: string, ...flags: readonly string[]) {
  return runCommand(process.execPath, [entry, 'netpol', ...flags], home.path, {
    env: { HOME: home.path, KUBECONFIG: kubeconfig },
  });
}

const read = (text: string) => parseAllDocuments(text).map((each) => each.toJS() as NetworkPolicy);

async function lines(kube: Kubernetes, args: readonly string[], yaml: string): Promise<string[]> {
  const { status, stdout, stderr } = await kube.kubectl(['apply', ...args, '-f', '-'], yaml);
  assert.is(status, 0, stderr);
  return stdout.trimEnd().split('\n');
}

test('prints what kubectl applies, and changes nothing a second time', async ({ kube, namespace }) => {
  const egress = [{ cidr: '10.20.0.0/16', port: 5432 }];
  await kube.apply(
    {
      ...{ apiVersion: 'svc.io/v1alpha1', kind: 'ServiceConfig', metadata: { name: 'more', namespace } },
      spec: { selector: {}, egress, proxy: { enabled: true, upstream: 'https://[2001:db8::9]' } },
    },
    protectedPod(namespace, 'two', { vault: 'http://203.0.113.8' }),
  );
  const flags = ['--namespace', namespace, '--vault-address', 'https://203.0.113.6'];
  const first = await netpol(kube.kubeconfig(), ...flags);
  assert.is(first.status, 0, first.stderr);
  assert.is(first.stderr, '');
  const blocks = JSON.stringify(read(first.stdout)[0]?.spec.egress);
  for (const part of [
    '203.0.113.6/32',
    '203.0.113.7/32',
    '203.0.113.8/32',
    '10.20.0.0/16',
    '192.0.2.20/32',
    'kube-dns',
  ])
    assert.ok(blocks.includes(part), part);
  const names = [`svc-egress-${namespace}`, `svc-egress-${namespace}-store`];
  const said = (what: string) => names.map((name) => `networkpolicy.networking.k8s.io/${name} ${what}`);
  assert.equal(await lines(kube, ['--validate=strict'], first.stdout), said('created'));
  const second = await netpol(kube.kubeconfig(), ...flags);
  assert.is(second.stdout, first.stdout);
  assert.equal(await lines(kube, ['--validate=strict'], second.stdout), said('unchanged'));
  for (const policy of read(first.stdout)) {
    const { spec } = await kube.must('GET', policyPath(namespace, policy.metadata.name));
    assert.equal(spec, policy.spec);
  }
});

test('finds every namespace with protected pods or ServiceConfigs, and no other', async ({
  kube,
  namespace,
}) => {
  const [configured, other] = [await kube.createNamespace(), await kube.createNamespace()];
  await kube.apply(
    {
      ...{
        apiVersion: 'svc.io/v1alpha1',
        kind: 'ServiceConfig',
        metadata: { name: 'x', namespace: configured },
      },
      spec: { selector: {}, vault: { address: 'https://203.0.113.7' } },
    },
    protectedPod(other, 'free', { labels: { 'svc/protected': 'false' } }),
  );
  const { stdout } = await netpol(kube.kubeconfig());
  const found = read(stdout).map(({ metadata }) => metadata.namespace);
  assert.ok(found.includes(namespace) && found.includes(configured));
  assert.not.ok(found.includes(other) || found.includes('default') || found.includes('kube-system'));
  assert.equal(found, found.toSorted());
});

test('keeps texts that YAML 1.1 takes for something else', async ({ kube, namespace }) => {
  const selector = {
    a: 'on',
    b: '1e3',
    c: 'null',
    d: '0x1F',
    e: 'y',
    f: '1_000',
    g: '010',
    on: 'true',
    h: '0b1',
  };
  await kube.apply({
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'vault', namespace } },
    spec: { selector, ports: [{ port: 443, targetPort: 8200 }] },
  });
  // without pods, which would name servers of their own
  const empty = await kube.createNamespace();
  const { stdout, stderr } = await netpol(
    kube.kubeconfig(),
    ...['--namespace', empty, '--namespace', namespace],
    ...['--vault-address', `https://vault.${namespace}.svc`],
  );
  await lines(kube, ['--validate=strict'], stdout);
  const applied = await kube.must('GET', policyPath(empty));
  const selectors = applied.spec.egress.flatMap(({ to }: { to: object[] }) => to);
  assert.ok(
    selectors.some((peer: { podSelector?: { matchLabels: object } }) =>
      Object.entries(selector).every(
        ([key, value]) => (peer.podSelector?.matchLabels as never)?.[key] === value,
      ),
    ),
    stderr,
  );
});

async function account(kube: Kubernetes, rules: readonly [string, string, string[]][]): Promise<string> {
  const subject = { namespace: await kube.createNamespace(), name: 'reader' };
  await kube.createServiceAccount(subject);
  const name = subject.namespace;
  const [group, apiVersion] = ['rbac.authorization.k8s.io', 'rbac.authorization.k8s.io/v1'];
  await kube.apply(
    {
      ...{ apiVersion, kind: 'ClusterRole', metadata: { name } },
      rules: rules.map(([apiGroup, resource, verbs]) => ({
        apiGroups: [apiGroup],
        resources: [resource],
        verbs,
      })),
    },
    {
      ...{ apiVersion, kind: 'ClusterRoleBinding', metadata: { name } },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', ...subject }],
    },
  );
  return kube.kubeconfig(await kube.tokenFor(subject));
}

/** All that it needs, but for seeing what others allow. */
const needed: readonly [string, string, string[]][] = [
  ['', 'pods', ['list']],
  ['', 'services', ['get', 'list']],
  ['svc.io', 'serviceconfigs', ['list']],
  ['discovery.k8s.io', 'endpointslices', ['list']],
  ['apps', 'daemonsets', ['get']],
];

test('names every permission that it lacks, with 4 and no policy', async ({ kube, namespace }) => {
  const kubeconfig = await account(kube, [['', 'services', ['get']]]);
  const { status, stdout, stderr } = await netpol(kubeconfig, '--namespace', namespace);
  assert.is(status, 4);
  assert.is(stdout, '');
  assert.match(stderr, /cannot list resource "pods" in API group ""/);
  assert.match(stderr, /cannot list resource "serviceconfigs" in API group "svc\.io"/);
  const json = await netpol(kubeconfig, '--json');
  assert.is(json.status, 4);
  assert.is(JSON.parse(json.stdout).error.code, 'KUBE_DENIED');
});

test('needs no more than these permissions, and says what it cannot see without', async ({
  kube,
  namespace,
}) => {
  const flags = ['--namespace', namespace];
  const limited = await netpol(await account(kube, needed), ...flags);
  assert.is(limited.status, 0, limited.stderr);
  assert.is(limited.stdout, (await netpol(kube.kubeconfig(), ...flags)).stdout);
  assert.match(limited.stderr, /Warning: Cannot tell whether other policies widen .* "networkpolicies"/);
  const without = needed.filter(([, resource]) => resource !== 'services');
  const { status, stderr } = await netpol(await account(kube, without), ...flags);
  assert.is(status, 4);
  assert.match(stderr, /cannot get resource "services"/);
});

test('ends with 4 where nobody answers, and asks nobody when told so', async ({ kube, namespace }) => {
  const kubeconfig = kube.kubeconfig(undefined, `https://127.0.0.1:${await freePort()}`);
  const flags = ['--namespace', namespace, '--vault-address', 'https://203.0.113.7'];
  const { status, stdout, stderr } = await netpol(kubeconfig, ...flags);
  assert.is(status, 4);
  assert.is(stdout, '');
  assert.match(stderr, /KUBE_UNAVAILABLE/);
  assert.is((await netpol(kubeconfig, ...flags, '--no-cluster')).status, 0);
});

test('tells of policies of others that widen, or that it would replace', async ({ kube, namespace }) => {
  const policy = (name: string, spec: object) => ({
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name, namespace } },
    spec: { podSelector: {}, policyTypes: ['Egress'], ...spec },
  });
  await kube.apply(
    policy('wide', { egress: [{}] }),
    policy('closed', { egress: [] }),
    policy(`svc-egress-${namespace}`, { egress: [] }),
  );
  const { status, stderr } = await netpol(kube.kubeconfig(), '--namespace', namespace);
  assert.is(status, 0);
  assert.match(stderr, new RegExp(`Warning: NetworkPolicy ${namespace}/wide lets protected pods reach more`));
  assert.match(stderr, new RegExp(`NetworkPolicy ${namespace}/svc-egress-${namespace} .* replaces it`));
  assert.not.match(stderr, /closed/);
});

async function besideOperator(kube: Kubernetes, work: (operator: Operator) => Promise<void>): Promise<void> {
  const operator = await startOperator(kube, await operatorAccount(kube), new Map());
  try {
    await work(operator);
  } finally {
    await operator.stop();
  }
}

const isForeign = (line: LogFields, namespace: string) =>
  line['event'] === 'egress.policy.foreign' && line['namespace'] === namespace;

test('says what the operator has applied, who goes on keeping it', async ({ kube, namespace }) => {
  const path = policyPath(namespace);
  await besideOperator(kube, async ({ controller, log }) => {
    await waitFor('the policy', () => controller.egressPolicyOf(namespace) === true);
    const { spec } = await kube.must('GET', path);
    const flags = ['--namespace', namespace];
    const same = await netpol(kube.kubeconfig(), ...flags);
    assert.equal(read(same.stdout)[0]?.spec, spec);
    await lines(kube, [], same.stdout);
    assert.match((await lines(kube, [], same.stdout))[0] ?? '', /unchanged$/);
    assert.match((await lines(kube, ['--server-side'], same.stdout))[0] ?? '', /serverside-applied$/);
    const wider = await netpol(kube.kubeconfig(), ...flags, '--allow', '198.51.100.7:25');
    await lines(kube, ['--server-side', '--force-conflicts'], wider.stdout);
    await waitFor('the operator', async () => {
      const now = await kube.must('GET', path);
      return !JSON.stringify(now.spec).includes('198.51.100.7') && now;
    });
    assert.equal((await kube.must('GET', path)).spec, spec);
    assert.not.ok(log.some((line) => isForeign(line, namespace)));
  });
});

test('leaves to an operator that comes later what it has to keep', async ({ kube, namespace }) => {
  const early = await netpol(kube.kubeconfig(), '--namespace', namespace, '--allow', '198.51.100.7:25');
  await lines(kube, [], early.stdout);
  await besideOperator(kube, async ({ controller, log }) => {
    await waitFor('its policy', async () => {
      const { spec } = await kube.must('GET', policyPath(namespace));
      return !JSON.stringify(spec).includes('198.51.100.7');
    });
    await waitFor('its state', () => controller.egressPolicyOf(namespace) === true);
    assert.not.ok(log.some((line) => isForeign(line, namespace)));
    await kube.must('DELETE', `/api/v1/namespaces/${namespace}/pods/one?gracePeriodSeconds=0`);
    await waitFor('the end of its state', () => controller.egressPolicyOf(namespace) !== true);
    const { spec } = await kube.must('GET', policyPath(namespace));
    assert.ok(spec.egress.length > 1, 'what a person has applied is not the operator’s to remove');
  });
});

test.run();
