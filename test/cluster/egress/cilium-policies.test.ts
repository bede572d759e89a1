import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type CiliumPeers,
  type CiliumRule,
  ciliumPolicies,
} from '../../../src/cluster/egress/cilium-policies.ts';
import type { EgressFacts, ServiceFacts } from '../../../src/cluster/egress/contract.ts';
import { shapes } from './shapes.ts';

const test = suite('egress policies for Cilium');

const dns: ServiceFacts = {
  ...{ namespace: 'kube-system', name: 'kube-dns', selector: { 'k8s-app': 'kube-dns' } },
  ...{ clusterIPs: ['10.96.0.10'], targetPort: 5353, port: 53, endpoints: [] },
};
const vault: ServiceFacts = {
  ...dns,
  namespace: 'vault',
  name: 'vault',
  selector: { app: 'v' },
  targetPort: 'https',
};
const facts: EgressFacts = {
  namespace: 'shop',
  vaults: [
    { kind: 'external', host: 'vault.example.eu', addresses: ['203.0.113.1'], port: 8200 },
    { kind: 'service', host: 'vault.vault.svc', service: { ...vault, clusterIPs: [], port: 443 }, port: 443 },
    { kind: 'external', host: '203.0.113.9', addresses: [], port: 443 },
  ],
  stores: [],
  apiServer: [
    { address: '10.96.0.1', port: 443 },
    { address: '192.0.2.1', port: 6443 },
    { address: '192.0.2.2', port: 6443 },
  ],
  dns: { service: dns, addresses: ['169.254.20.10'] },
  extra: [{ host: 'ntp.example.eu', port: 123, protocol: 'UDP' }, { cidr: '198.51.100.0/24' }],
};

const onPort = (port: string, protocol: string) => [{ ports: [{ port, protocol }] }];
const pods = (namespace: string, labels: Record<string, string>) => ({
  matchLabels: { 'k8s:io.kubernetes.pod.namespace': namespace, ...labels },
});
const dnsOn = (port: string) => [
  {
    ports: ['TCP', 'UDP'].map((protocol) => ({ port, protocol })),
    rules: { dns: [{ matchPattern: '*' }] },
  },
];

test('leave out all blocks that are nearly every address together', () => {
  const extra = Array.from({ length: 128 }, (_, index) => ({ cidr: `${index + 1}.0.0.0/8` }));
  const { policies, warnings } = ciliumPolicies({ ...facts, extra });
  const blocks = policies.flatMap(({ spec }) => spec.egress.flatMap(({ toCIDR = [] }) => toCIDR));
  assert.equal(
    blocks.filter((cidr) => cidr.endsWith('/8')),
    [],
  );
  assert.match(warnings.join('\n'), /together cover more than a quarter/);
});

test('keep names, and name the API server as what it is', () => {
  const { policies, warnings } = ciliumPolicies(facts);
  assert.equal(warnings, []);
  const [policy] = policies;
  assert.equal(policy?.spec.endpointSelector, { matchLabels: { 'svc/protected': 'true' } });
  const has = (rule: object) =>
    assert.ok(
      policy?.spec.egress.some((each) => JSON.stringify(sorted(each)) === JSON.stringify(sorted(rule))),
      JSON.stringify([rule, policy?.spec.egress], undefined, 1),
    );
  has({ toFQDNs: [{ matchName: 'vault.example.eu' }], toPorts: onPort('8200', 'TCP') });
  has({ toFQDNs: [{ matchName: 'ntp.example.eu' }], toPorts: onPort('123', 'UDP') });
  has({ toCIDR: ['198.51.100.0/24', '203.0.113.9/32'], toPorts: onPort('443', 'TCP') });
  has({ toEndpoints: [pods('vault', { 'k8s:app': 'v' })], toPorts: onPort('443', 'TCP') });
  has({ toEndpoints: [pods('kube-system', { 'k8s:k8s-app': 'kube-dns' })], toPorts: dnsOn('5353') });
  has({ toEndpoints: [pods('kube-system', { 'k8s:k8s-app': 'node-local-dns' })], toPorts: dnsOn('53') });
  has({ toCIDR: ['10.96.0.10/32', '169.254.20.10/32'], toPorts: dnsOn('53') });
  const apiPorts = ['443', '6443'].map((port) => ({ port, protocol: 'TCP' }));
  has({ toEntities: ['kube-apiserver'], toPorts: [{ ports: apiPorts }] });
  assert.is(policy?.spec.egress.length, 8);
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, each]) => [key, sorted(each)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

test('allow nothing at all where nothing can be found out', () => {
  const stores = [{ kind: 'external', host: 's3.storage.svc', addresses: [], port: 443 }] as const;
  const { policies, warnings } = ciliumPolicies({ ...facts, stores });
  // an empty list would leave the pods free
  assert.equal(policies[1]?.spec.egress, [{}]);
  assert.ok(warnings.some((text) => text.includes('s3.storage.svc')));
});

const kinds: readonly (keyof CiliumPeers)[] = ['toEndpoints', 'toEntities', 'toCIDR', 'toFQDNs'];

test('have one kind of peer a rule, never everything, and are the same in any order', () => {
  fc.assert(
    fc.property(shapes, ({ facts: given }) => {
      const { policies } = ciliumPolicies(given);
      const rules: CiliumRule[] = policies.flatMap(({ spec }) => spec.egress);
      for (const rule of rules) {
        const used = kinds.filter((kind) => rule[kind] !== undefined);
        if (used.length === 0) assert.equal(rule, {});
        else assert.is(used.length, 1);
        for (const kind of used) assert.ok((rule[kind]?.length ?? 0) > 0);
        if (used.length > 0) assert.ok((rule.toPorts?.[0].ports.length ?? 0) > 0);
        for (const cidr of rule.toCIDR ?? []) assert.ok(Number(cidr.split('/')[1]) >= 8, cidr);
        for (const { matchLabels } of rule.toEndpoints ?? []) assert.ok(Object.keys(matchLabels).length > 1);
      }
      const reversed = {
        ...given,
        ...{ vaults: given.vaults.toReversed(), stores: given.stores.toReversed() },
        ...{ apiServer: given.apiServer.toReversed(), extra: given.extra.toReversed() },
      };
      assert.is(JSON.stringify(ciliumPolicies(reversed)), JSON.stringify({ ...ciliumPolicies(given) }));
    }),
    { numRuns: 200 },
  );
});

test.run();
