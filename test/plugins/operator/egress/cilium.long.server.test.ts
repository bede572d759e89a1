import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CiliumPolicy } from '../../../../src/cluster/egress/cilium-policies.ts';
import { type NetworkPolicy, policyNames } from '../../../../src/cluster/egress/contract.ts';
import { type NameServer, startNameServer } from '../../../support/name-server.ts';
import { type OperatorCluster, startOperatorCluster } from '../../../support/operator-cluster.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { requireTool } from '../../../testbed/ensure.ts';
import { askCilium } from '../../netpol/ask-cilium.ts';
import { allowed } from './rig.ts';

export const idle = true;

export const timeout = 420_000;
const test = suite('egress policies of the built operator, without Cilium and with it');
const store = 'store.example.com';
const block = '198.51.100.0/24';

let names: NameServer;
let cluster: OperatorCluster;
let namespace: string;

test.before(async () => {
  names = await startNameServer();
  names.addresses.set('vault.example.com', ['203.0.113.1']);
  names.addresses.set(store, ['203.0.113.7']);
  cluster = await startOperatorCluster({
    replicas: 0,
    values: { operator: { vaultAddress: 'https://vault.example.com' } },
  });
  await cluster.add({ under: names.under });
  namespace = await cluster.kubernetes.createNamespace();
});

test.after(async () => {
  await cluster?.stop();
  await names?.stop();
});

const serviceConfig = (spec: object = {}) => ({
  ...{ apiVersion: 'svc.io/v1alpha1', kind: 'ServiceConfig', metadata: { name: 'shop', namespace } },
  spec: {
    selector: { matchLabels: { app: 'shop' } },
    ...{ vault: { role: 'app' }, secretPaths: ['secret/app'] },
    proxy: { enabled: true, upstream: `https://${store}`, storeCIDRs: [block] },
    ...spec,
  },
});

async function at(path: string) {
  const { status, json } = await cluster.kubernetes.request('GET', path);
  return status === 200 ? json : undefined;
}

const policyAt = (kind: 'main' | 'store') =>
  at(
    `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies/${policyNames(namespace)[kind]}`,
  ) as Promise<NetworkPolicy | undefined>;

const ciliumAt = (kind: 'main' | 'store') =>
  at(
    `/apis/cilium.io/v2/namespaces/${namespace}/ciliumnetworkpolicies/${policyNames(namespace)[kind]}`,
  ) as Promise<CiliumPolicy | undefined>;

/** Waits for something that the operator brings about, up to its next look at names. */
const until = <T>(what: string, check: () => Promise<T | undefined | false>) =>
  waitFor(what, check, {
    timeoutMs: 200_000,
    details: () => cluster.replicas.map((each) => each.output()).join('\n'),
  });

/** The names that a policy allows, each with its ports. */
const namesIn = ({ spec }: CiliumPolicy): string[] =>
  spec.egress
    .flatMap((rule) => {
      const ports = rule.toPorts?.flatMap((each) => each.ports.map(({ port }) => port)) ?? [];
      return (rule.toFQDNs ?? []).map((name) => `${JSON.stringify(name)} ${ports.join()}`);
    })
    .sort();

const named = (name: string) => `{"matchName":"${name}"} 443`;

test('without Cilium the declared blocks and the addresses of the name are allowed, for pods with the proxy', async () => {
  const { kubernetes } = cluster;
  await kubernetes.apply(serviceConfig());
  const pod = {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'shop', labels: { app: 'shop' } } },
    spec: {
      securityContext: { runAsUser: 1000 },
      containers: [{ name: 'app', image: 'registry.example/app:1', command: ['/bin/app'] }],
    },
  };
  await until('the pod to be injected', async () => {
    const { status, json } = await kubernetes.request(
      'POST',
      `/api/v1/namespaces/${namespace}/pods?dryRun=All`,
      pod,
    );
    const { metadata } = json as { metadata?: { labels?: Record<string, string> } };
    return status === 201 && metadata?.labels?.['svc/proxy'] === 'true';
  });
  await kubernetes.must('POST', `/api/v1/namespaces/${namespace}/pods`, pod);
  const policy = await until('the policy of the store', async () => {
    const found = await policyAt('store');
    return found && allowed(found).some((line) => line.startsWith('203.0.113.7/32')) ? found : undefined;
  });
  assert.equal(allowed(policy).sort(), ['198.51.100.0/24 TCP 443', '203.0.113.7/32 TCP 443']);
  assert.equal(policy.spec.podSelector, { matchLabels: { 'svc/proxy': 'true' } });
  const main = await policyAt('main');
  assert.ok(main && !allowed(main).some((line) => line.startsWith('198.51.100.')));
});

test('an address that the name has turned away from stays beside its new one, also for the next operator', async () => {
  names.addresses.set(store, ['203.0.113.8']);
  const [former] = cluster.replicas;
  await cluster.add({ under: names.under });
  await former?.end('SIGTERM');
  const policy = await until('the new address', async () => {
    const found = await policyAt('store');
    return found && allowed(found).some((line) => line.startsWith('203.0.113.8/32')) ? found : undefined;
  });
  assert.ok(allowed(policy).some((line) => line.startsWith('203.0.113.7/32')));
});

test('with Cilium there are policies by name beside those by address, which the API server and Cilium take', async () => {
  const { bins } = await requireTool('cilium-policy-check');
  const definition = readFileSync(bins['definition'] as string, 'utf8');
  const { status, stderr } = await cluster.kubernetes.kubectl(['apply', '-f', '-'], definition);
  assert.is(status, 0, stderr);
  const [main, ofStore] = await Promise.all([
    until('the policy by name', () => ciliumAt('main')),
    until('that of the store', () => ciliumAt('store')),
  ]);
  assert.equal(namesIn(main), [named('vault.example.com')]);
  assert.equal(namesIn(ofStore), [named(store)]);
  for (const { spec } of [main, ofStore])
    assert.not.match(
      JSON.stringify(spec),
      /world|"all"|0\.0\.0\.0|203\.0\.113\./,
      'nothing wider than the names',
    );
  const plain = [main, ofStore].map(({ metadata: { name }, ...policy }) => ({
    ...policy,
    metadata: { name, namespace },
  }));
  for (const answer of await askCilium(plain))
    assert.equal(answer, { error: '', deniesEgress: true, deniesIngress: false });
  assert.ok((await policyAt('main')) && (await policyAt('store')), 'those by address stay');
});

test('a changed ServiceConfig changes them', async () => {
  const other = 'other.example.com';
  names.addresses.set(other, ['203.0.113.9']);
  await cluster.kubernetes.apply(serviceConfig({ egress: [{ host: other }] }));
  const main = await until('the new name', async () => {
    const found = await ciliumAt('main');
    return found && namesIn(found).includes(named(other)) ? found : undefined;
  });
  assert.equal(namesIn(main), [named(other), named('vault.example.com')]);
  await cluster.kubernetes.apply(serviceConfig());
  await until('the name to be gone', async () => {
    const found = await ciliumAt('main');
    return found && !namesIn(found).includes(named(other));
  });
});

test.run();
