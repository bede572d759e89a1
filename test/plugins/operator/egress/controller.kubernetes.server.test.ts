import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { type NetworkPolicy, policyNames } from '../../../../src/cluster/egress/contract.ts';
import { egressPolicies } from '../../../../src/cluster/egress/policies.ts';
import type { LogFields } from '../../../../src/runtime/logging/logger.ts';
import { type Kubernetes, startKubernetes } from '../../../support/kubernetes.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { requireTool } from '../../../testbed/ensure.ts';
import {
  allowed,
  type Dns,
  furnish,
  type Operator,
  operatorAccount,
  policyPath,
  protectedPod,
  slice,
  startOperator,
} from './rig.ts';

interface Rig {
  kube: Kubernetes;
  token: string;
  operator: Operator;
  dns: Dns;
  /** Added to the clock. */
  clock: { ms: number };
  namespace: string;
}

export const idle = true;

const test = suite<Rig>('egress controller');

test.before(async (rig) => {
  rig.kube = await startKubernetes();
  await furnish(rig.kube);
  rig.token = await operatorAccount(rig.kube);
});

test.after(async ({ kube }) => kube?.stop());

test.before.each(async (rig) => {
  rig.dns = new Map([['vault.example.com', { addresses: ['203.0.113.1'], failed: false }]]);
  rig.clock = { ms: 0 };
  rig.namespace = await rig.kube.createNamespace();
  rig.operator = await start(rig);
});

test.after.each(async ({ operator }) => operator?.stop());

function start({ kube, token, dns, clock }: Rig): Promise<Operator> {
  return startOperator(kube, token, dns, { now: () => performance.now() + clock.ms });
}

async function policy({ kube, namespace }: Rig, name?: string): Promise<NetworkPolicy | undefined> {
  const { status, json } = await kube.request('GET', policyPath(namespace, name));
  return status === 200 ? (json as NetworkPolicy) : undefined;
}

/** Waits until the policy says so. */
function until(
  rig: Rig,
  what: string,
  check: (lines: string[], policy: NetworkPolicy) => boolean,
  name?: string,
) {
  return waitFor(
    what,
    async () => {
      const found = await policy(rig, name);
      return found !== undefined && check(allowed(found), found) && found;
    },
    { details: () => JSON.stringify(rig.operator.log) },
  );
}

const has = (line: string) => (lines: string[]) => lines.includes(line);
const lacks = (line: string) => (lines: string[]) => !lines.includes(line);
const vaultLine = '203.0.113.1/32 TCP 443';

test('gives a namespace its policy with its first protected pod', async (rig) => {
  const { kube, namespace, operator } = rig;
  const service = await kube.must('GET', '/api/v1/namespaces/kube-system/services/kube-dns');
  const server = await kube.must('GET', '/api/v1/namespaces/default/services/kubernetes');
  const { controller } = operator;
  const told = new Map<string, boolean | undefined>();
  controller.onChange((changed) => told.set(changed, controller.egressPolicyOf(changed)));
  await kube.apply(protectedPod(namespace, 'one'));
  const found = await until(rig, 'the policy', has(vaultLine));
  assert.equal(
    allowed(found).sort(),
    [
      ...['TCP', 'UDP'].flatMap((protocol) => [
        `{"k8s-app":"kube-dns"} ${protocol} 53`,
        `${service.spec.clusterIP}/32 ${protocol} 53`,
      ]),
      `${server.spec.clusterIP}/32 TCP 443`,
      '192.0.2.20/32 TCP 6443',
      vaultLine,
    ].sort(),
  );
  assert.is(found.metadata.labels['app.kubernetes.io/managed-by'], 'svc-operator');
  assert.equal(found.spec.podSelector, { matchLabels: { 'svc/protected': 'true' } });
  await waitFor('its state', () => told.get(namespace) === true);
  assert.is(controller.egressPolicyOf(namespace), true);
  assert.is(controller.egressPolicyOf('default'), undefined);
  await kube.must('DELETE', `/api/v1/namespaces/${namespace}/pods/one?gracePeriodSeconds=0`);
  await waitFor('the end of its state', () => told.get(namespace) === undefined);
});

test('does not write when nothing has changed, be it a policy without a rule', async (rig) => {
  const { kube, namespace } = rig;
  const proxy = { SVC_PROXY_UPSTREAM: 'https://unknown.example.com' };
  await kube.apply(protectedPod(namespace, 'one', { proxy }));
  const { metadata } = await until(rig, 'the policy', has(vaultLine));
  const applied = () =>
    rig.operator.log.filter(
      (line) => line['event'] === 'egress.policy.applied' && line['namespace'] === namespace,
    );
  const reconciled = async () =>
    Number(
      /reconcile_total\{controller="egress",result="requeue_after"\} (\d+)/.exec(
        (await rig.operator.metrics.expose()).body,
      )?.[1],
    );
  const before = await reconciled();
  await waitFor('more reconciliations', async () => (await reconciled()) > before + 5);
  assert.is(applied().length, 2);
  assert.equal((await policy(rig))?.metadata, metadata);
});

test('unites what pods and ServiceConfigs ask for', async (rig) => {
  const { kube, namespace, dns } = rig;
  dns.set('other.example.com', { addresses: ['203.0.113.2', '2001:db8::2'], failed: false });
  dns.set('s3.example.com', { addresses: ['203.0.113.3'], failed: false });
  const vault = { apiVersion: 'v1', kind: 'Service', metadata: { namespace, name: 'vault' } };
  await kube.apply(
    { ...vault, spec: { selector: { app: 'vault' }, ports: [{ port: 8200, targetPort: 'api' }] } },
    slice(namespace, 'vault', ['10.1.2.3'], [{ name: '', port: 18200 }]),
    {
      ...{ apiVersion: 'svc.io/v1alpha1', kind: 'ServiceConfig', metadata: { namespace, name: 'shop' } },
      spec: {
        selector: { matchLabels: { app: 'shop' } },
        vault: { address: 'https://vault:8200', role: 'shop' },
        secretPaths: ['secret/shop'],
        egress: [{ cidr: '10.9.0.0/16', port: 5432 }],
      },
    },
    protectedPod(namespace, 'one', {
      vault: 'https://other.example.com:8443',
      proxy: { SVC_PROXY_UPSTREAM: 'https://s3.example.com' },
      labels: { 'svc/proxy': 'true', app: 'other' },
    }),
  );
  const found = await until(rig, 'the other address', has('2001:db8::2/128 TCP 8443'));
  const lines = allowed(found);
  for (const line of ['203.0.113.2/32 TCP 8443', '{"app":"vault"} TCP 18200', '10.9.0.0/16 TCP 5432']) {
    assert.ok(lines.includes(line), line);
  }
  assert.not.ok(lines.includes(vaultLine), 'the default, which nobody uses');
  assert.not.match(lines.join(), '203.0.113.3');
  const store = await until(rig, 'the store', () => true, `svc-egress-${namespace}-store`);
  assert.equal(allowed(store), ['203.0.113.3/32 TCP 443']);
  await kube.must('DELETE', `/api/v1/namespaces/${namespace}/pods/one?gracePeriodSeconds=0`);
  await waitFor(
    'the end of the store policy',
    async () => (await policy(rig, `svc-egress-${namespace}-store`)) === undefined,
  );
  await until(rig, 'the end of the other address', lacks('203.0.113.2/32 TCP 8443'));
});

test('puts back what was changed or deleted', async (rig) => {
  const { kube, namespace } = rig;
  await kube.apply(protectedPod(namespace, 'one'));
  await until(rig, 'the policy', has(vaultLine));
  await kube.must('PATCH', policyPath(namespace), {
    spec: { egress: [{}] },
    metadata: { labels: { 'app.kubernetes.io/managed-by': null } },
  });
  await until(
    rig,
    'the restored one',
    (_lines, { metadata, spec }) =>
      spec.egress.length > 1 && metadata.labels['app.kubernetes.io/managed-by'] === 'svc-operator',
  );
  await kube.must('DELETE', policyPath(namespace));
  await until(rig, 'a new one', has(vaultLine));
});

test('drops addresses only a day after their name did, and not while DNS fails', async (rig) => {
  const { kube, namespace, dns, clock } = rig;
  await kube.apply(protectedPod(namespace, 'one'));
  await until(rig, 'the first', has(vaultLine));
  dns.set('vault.example.com', { addresses: ['203.0.113.9'], failed: false });
  const both = await until(rig, 'the second', has('203.0.113.9/32 TCP 443'));
  assert.ok(allowed(both).includes(vaultLine));
  dns.set('vault.example.com', { addresses: [], failed: true });
  clock.ms += 3_600_000;
  dns.set('new.example.com', { addresses: ['203.0.113.7'], failed: false });
  await kube.apply(protectedPod(namespace, 'two', { vault: 'https://new.example.com' }));
  const during = allowed(await until(rig, 'a look meanwhile', has('203.0.113.7/32 TCP 443')));
  assert.ok(during.includes(vaultLine) && during.includes('203.0.113.9/32 TCP 443'));
  dns.set('vault.example.com', { addresses: ['203.0.113.9'], failed: false });
  await until(rig, 'a state after it', has('203.0.113.9/32 TCP 443'));
  assert.ok(allowed((await policy(rig)) as NetworkPolicy).includes(vaultLine));
  clock.ms += 24 * 3_600_000;
  await until(rig, 'the end of the first', lacks(vaultLine));
});

test('goes on with what a policy allows where it starts while DNS fails', async (rig) => {
  const { kube, namespace, dns } = rig;
  await kube.apply(protectedPod(namespace, 'one'));
  await until(rig, 'the policy', has(vaultLine));
  await rig.operator.stop();
  dns.set('vault.example.com', { addresses: [], failed: true });
  rig.operator = await start(rig);
  await waitFor('its state', () => rig.operator.controller.egressPolicyOf(namespace));
  assert.ok(allowed((await policy(rig)) as NetworkPolicy).includes(vaultLine));
});

test('keeps the servers of pods that run when their ServiceConfig changes', async (rig) => {
  const { kube, namespace, dns } = rig;
  dns.set('new.example.com', { addresses: ['203.0.113.7'], failed: false });
  const config = (address: string) => ({
    ...{ apiVersion: 'svc.io/v1alpha1', kind: 'ServiceConfig', metadata: { namespace, name: 'shop' } },
    spec: { selector: {}, vault: { address, role: 'shop' }, secretPaths: ['secret/shop'] },
  });
  await kube.apply(config('https://vault.example.com'), protectedPod(namespace, 'one'));
  await until(rig, 'the first', has(vaultLine));
  await waitFor('its state', () => rig.operator.controller.egressPolicyOf(namespace));
  await kube.apply(config('https://new.example.com'));
  const both = await until(rig, 'the second', has('203.0.113.7/32 TCP 443'));
  assert.ok(allowed(both).includes(vaultLine));
  await rig.operator.stop();
  rig.operator = await start(rig);
  await waitFor('another leader', () => rig.operator.controller.egressPolicyOf(namespace));
  assert.ok(
    allowed((await policy(rig)) as NetworkPolicy).includes(vaultLine),
    'which has not seen the first',
  );
  await kube.must('DELETE', `/api/v1/namespaces/${namespace}/pods/one?gracePeriodSeconds=0`);
  await until(rig, 'the end of the first', lacks(vaultLine));
});

test('opens nothing for an annotation of a pod that runs', async (rig) => {
  const { kube, namespace, dns } = rig;
  dns.set('evil.example.com', { addresses: ['203.0.113.66'], failed: false });
  dns.set('new.example.com', { addresses: ['203.0.113.7'], failed: false });
  const { spec, ...plain } = protectedPod(namespace, 'plain', { labels: { 'svc/protected': 'false' } });
  const containers = [{ name: 'main', image: 'registry.example/app' }];
  await kube.apply(protectedPod(namespace, 'one'), { ...plain, spec: { containers } });
  await until(rig, 'the policy', has(vaultLine));
  const metadata = {
    annotations: { 'svc/vault-address': 'https://evil.example.com' },
    labels: { 'svc/protected': 'true' },
  };
  for (const name of ['one', 'plain'])
    await kube.must('PATCH', `/api/v1/namespaces/${namespace}/pods/${name}`, { metadata });
  await kube.apply(protectedPod(namespace, 'two', { vault: 'https://new.example.com' }));
  const later = await until(rig, 'a look after that', has('203.0.113.7/32 TCP 443'));
  assert.not.match(allowed(later).join(), '203.0.113.66');
});

test('takes in the endpoints of a region, and says what credentials would need', async (rig) => {
  const { kube, namespace, dns, operator } = rig;
  dns.set('s3.eu-central-1.amazonaws.com', { addresses: ['203.0.113.3'], failed: false });
  dns.set('sts.eu-central-1.amazonaws.com', { addresses: ['203.0.113.4'], failed: false });
  const labels = { 'svc/proxy': 'true' };
  const region = { AWS_REGION: 'eu-central-1' };
  const role = { AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/shop', AWS_WEB_IDENTITY_TOKEN_FILE: '/token' };
  const name = `svc-egress-${namespace}-store`;
  await kube.apply(protectedPod(namespace, 'one', { labels, proxy: { ...region, ...role } }));
  const store = await until(rig, 'the store', has('203.0.113.3/32 TCP 443'), name);
  assert.equal(allowed(store).sort(), ['203.0.113.3/32 TCP 443', '203.0.113.4/32 TCP 443']);
  const isSaid = (line: LogFields) =>
    line['namespace'] === namespace && String(line['error']).includes('169.254.169.254');
  const said = () => operator.log.find(isSaid);
  assert.is(said(), undefined);
  await kube.apply(protectedPod(namespace, 'two', { labels, proxy: region }));
  await waitFor('the warning', () => said() !== undefined);
  assert.not.match(allowed((await policy(rig, name)) as NetworkPolicy).join(), '169.254');
});

test('removes the policy after the last pod, and only what is its own', async (rig) => {
  const { kube, namespace } = rig;
  const other = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { namespace, name: 'other' },
  };
  await kube.apply(
    { ...other, spec: { podSelector: {}, policyTypes: ['Ingress'] } },
    protectedPod(namespace, 'one'),
  );
  await until(rig, 'the policy', has(vaultLine));
  await kube.must('DELETE', `/api/v1/namespaces/${namespace}/pods/one?gracePeriodSeconds=0`);
  await waitFor('its end', async () => (await policy(rig)) === undefined);
  assert.ok(await policy(rig, 'other'));
  assert.is(rig.operator.controller.egressPolicyOf(namespace), undefined);
});

test("leaves somebody else's policy of that name, and says so", async (rig) => {
  const { kube, namespace, operator } = rig;
  const name = `svc-egress-${namespace}`;
  const spec = { podSelector: {}, policyTypes: ['Egress'], egress: [] };
  const theirs = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { namespace, name },
    spec,
  };
  await kube.apply(theirs, protectedPod(namespace, 'one'));
  await waitFor('the event', async () => {
    const { items } = await kube.must('GET', `/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
    return items.some(
      ({ reason, note }: { reason: string; note: string }) =>
        reason === 'ForeignPolicy' && note.includes(name),
    );
  });
  assert.is(operator.controller.egressPolicyOf(namespace), false);
  assert.equal(allowed({ ...theirs, spec: { egress: [], ...(await policy(rig))?.spec } } as never), []);
  assert.is(operator.log.filter((line) => line['event'] === 'egress.policy.foreign').length, 1);
  assert.match(
    (await operator.metrics.expose()).body,
    /svc_operator_egress_foreign_policies(\{[^}]*\})? 1\n/,
  );
  await kube.must('DELETE', `/api/v1/namespaces/${namespace}/pods/one?gracePeriodSeconds=0`);
  await waitFor('the end of its state', () => operator.controller.egressPolicyOf(namespace) === undefined);
  assert.ok(await policy(rig), 'it is not removed either');
  await kube.apply(protectedPod(namespace, 'two'));
  await waitFor('the state', () => operator.controller.egressPolicyOf(namespace) === false);
  await kube.must('PATCH', policyPath(namespace), {
    metadata: { labels: { 'app.kubernetes.io/managed-by': 'svc-operator' } },
  });
  await until(rig, 'the policy, now that it was handed over', has(vaultLine));
});

test('names policies of others that let protected pods reach more', async (rig) => {
  const { kube, namespace, operator } = rig;
  const meta = (name: string) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { namespace, name },
  });
  const spec = (egress: readonly object[], app: string) => ({
    podSelector: { matchLabels: { app } },
    policyTypes: ['Egress'],
    egress,
  });
  await kube.apply(
    protectedPod(namespace, 'one'),
    { ...meta('wide'), spec: spec([{}], 'shop') },
    { ...meta('closed'), spec: spec([], 'shop') },
    { ...meta('of-others'), spec: spec([{}], 'other') },
  );
  await waitFor('the finding', () => operator.controller.wideningPoliciesOf(namespace).length > 0);
  assert.equal(operator.controller.wideningPoliciesOf(namespace), ['wide']);
  assert.ok(
    operator.log.some((line) => line['event'] === 'egress.policy.widened' && line['policy'] === 'wide'),
  );
  await kube.must('DELETE', policyPath(namespace, 'wide'));
  await waitFor('its end', () => operator.controller.wideningPoliciesOf(namespace).length === 0);
});

test('does nothing while another replica leads', async (rig) => {
  const { kube, namespace, operator } = rig;
  operator.leadership.lead(false);
  await kube.apply(protectedPod(namespace, 'one'));
  const second = await start({ ...rig });
  second.leadership.lead(false);
  try {
    assert.is(operator.controller.egressPolicyOf(namespace), undefined);
    assert.match((await operator.metrics.expose()).body, /svc_operator_egress_namespaces(\{[^}]*\})? 0\n/);
    operator.leadership.lead(true);
    await until(rig, 'the policy', has(vaultLine));
    assert.not.ok(second.log.some((line) => line['namespace'] === namespace));
  } finally {
    await second.stop();
  }
});

test('goes on after the API server was away', async (rig) => {
  const { kube, namespace } = rig;
  await kube.apply(protectedPod(namespace, 'one'));
  await until(rig, 'the policy', has(vaultLine));
  await kube.pause();
  rig.dns.set('vault.example.com', { addresses: ['203.0.113.9'], failed: false });
  await kube.resume();
  await until(rig, 'the second address', has('203.0.113.9/32 TCP 443'));
});

test('makes policies that the API server takes strictly, of every kind of peer and the longest namespace', async ({
  kube,
}) => {
  const namespace = `n${'x'.repeat(62)}`;
  await kube.must('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  const dns = {
    namespace: 'kube-system',
    name: 'kube-dns',
    clusterIPs: ['10.96.0.10', 'fd00::a'],
    endpoints: [],
  };
  const { policies } = egressPolicies({
    namespace,
    vaults: [
      {
        kind: 'external',
        host: 'vault.example.com',
        addresses: ['203.0.113.1', '2001:db8::1', '::ffff:192.0.2.1'],
        port: 443,
      },
      {
        ...{ kind: 'service', host: 'vault.vault', port: 443 },
        service: { ...dns, selector: { app: 'vault' }, targetPort: 'https', port: 443 },
      },
    ],
    stores: [{ kind: 'external', host: 's3.example.com', addresses: [], port: 443 }],
    apiServer: [{ address: '192.0.2.20', port: 6443 }],
    dns: {
      service: { ...dns, selector: { 'k8s-app': 'kube-dns' }, targetPort: 53, port: 53 },
      addresses: ['169.254.20.10'],
    },
    extra: [{ cidr: '10.1.2.3/16', port: 1812, protocol: 'UDP' }, { cidr: 'fd00:1::1/64' }],
  });
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: policies });
  const { status, stdout, stderr } = await kube.kubectl(
    ['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', '-'],
    list,
  );
  assert.is(status, 0, stderr);
  assert.is(stderr, '');
  assert.is(stdout.trim().split('\n').length, 2);
});

// Cilium is there from here on
test('removes the policies by name with those by address', async (rig) => {
  const { kube, namespace, dns } = rig;
  const { bins } = await requireTool('cilium-policy-check');
  await kube.apply(parse(readFileSync(bins['definition'] as string, 'utf8')));
  dns.set('s3.example.com', { addresses: ['203.0.113.3'], failed: false });
  const labels = { 'svc/proxy': 'true' };
  await kube.apply(
    protectedPod(namespace, 'one', { labels, proxy: { SVC_PROXY_UPSTREAM: 'https://s3.example.com' } }),
  );
  const paths = Object.values(policyNames(namespace)).flatMap((name) => [
    policyPath(namespace, name),
    `/apis/cilium.io/v2/namespaces/${namespace}/ciliumnetworkpolicies/${name}`,
  ]);
  const all = (status: number) => async () => {
    const answers = await Promise.all(paths.map((path) => kube.request('GET', path)));
    return answers.every((answer) => answer.status === status);
  };
  // the operator has looked for Cilium before, and looks again after a minute of its clock
  rig.clock.ms += 61_000;
  const details = () => JSON.stringify(rig.operator.log);
  await waitFor('the policies', all(200), { details });
  await kube.must('DELETE', `/api/v1/namespaces/${namespace}/pods/one?gracePeriodSeconds=0`);
  await waitFor('their end', all(404), { details });
});

test.run();
