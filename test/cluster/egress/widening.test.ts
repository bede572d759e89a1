import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { NetworkPolicy } from '../../../src/cluster/egress/contract.ts';
import { egressPolicies } from '../../../src/cluster/egress/policies.ts';
import {
  type ObservedPolicy,
  type ObservedRule,
  type ObservedSpec,
  wideningPolicies,
} from '../../../src/cluster/egress/widening.ts';
import { type PolicyObject, projectPolicy } from '../../../src/cluster/kube/project-objects.ts';
import { mayConnect, type PolicyPod } from '../../support/network-policy.ts';

const test = suite('policies that widen the egress of protected pods');

const service = {
  namespace: 'vault',
  name: 'vault',
  clusterIPs: [],
  targetPort: 8200,
  port: 8200,
  endpoints: [],
};
const { policies: ours } = egressPolicies({
  namespace: 'vault',
  vaults: [
    { kind: 'service', host: 'vault.vault', service: { ...service, selector: { app: 'vault' } }, port: 8200 },
  ],
  stores: [{ kind: 'external', host: 's3.example', addresses: ['198.51.100.1'], port: 443 }],
  apiServer: [{ address: '192.0.2.1', port: 443 }],
  dns: { service: undefined, addresses: ['169.254.20.10'] },
  extra: [{ cidr: '10.1.0.0/16', port: 5432 }],
});
const labels = { app: 'shop', 'svc/protected': 'true' };
const names = (spec: ObservedSpec, pods: readonly Record<string, string>[] = [labels]) =>
  wideningPolicies({ ours, others: [{ name: 'other', spec }], pods });
const egress = (...rules: ObservedRule[]): ObservedSpec => ({
  podSelector: {},
  policyTypes: ['Egress'],
  egress: rules,
});
const to = (cidr: string, port: number | string | undefined, more = {}): ObservedSpec =>
  egress({ to: [{ ipBlock: { cidr } }], ports: [{ ...(port === undefined ? {} : { port }), ...more }] });
const pods = (peer: object) => egress({ to: [peer], ports: [{ port: 8200 }] });
const inVault = { matchLabels: { 'kubernetes.io/metadata.name': 'vault' } };
const app = { matchLabels: { app: 'vault' } };

const wider: Readonly<Record<string, ObservedSpec>> = {
  everything: egress({}),
  'everything on a port': egress({ ports: [{ port: 443 }] }),
  'a peer on every port': egress({ to: [{ ipBlock: { cidr: '192.0.2.1/32' } }] }),
  'a port rule without a port': to('192.0.2.1/32', undefined),
  'a larger block': to('192.0.2.0/31', 443),
  'another address': to('192.0.2.2/32', 443),
  'another port': to('192.0.2.1/32', 444),
  'another protocol': to('192.0.2.1/32', 443, { protocol: 'UDP' }),
  'a range of ports': to('192.0.2.1/32', 443, { endPort: 444 }),
  'an object store that is for pods with the proxy': to('198.51.100.1/32', 443),
  'a port by its name': egress({
    to: [{ podSelector: app, namespaceSelector: inVault }],
    ports: [{ port: 'api' }],
  }),
  'pods of every namespace': pods({ podSelector: app, namespaceSelector: {} }),
  'all pods of a namespace': pods({ namespaceSelector: inVault }),
  'other pods of its namespace': pods({ podSelector: { matchLabels: { app: 'shop' } } }),
  'one rule of several': egress(...(to('192.0.2.1/32', 443).egress ?? []), {}),
  'one peer of several': egress({ to: [{ ipBlock: { cidr: '192.0.2.1/32' } }, {}], ports: [{ port: 443 }] }),
  'no policy types': { podSelector: {}, egress: [{}] },
  'the pods by another label': { ...egress({}), podSelector: { matchLabels: { app: 'shop' } } },
};
for (const [what, spec] of Object.entries(wider)) {
  test(`are those that allow ${what}`, () => assert.equal(names(spec), ['other']));
}

const notWider: Readonly<Record<string, ObservedSpec>> = {
  'what ours allows': to('192.0.2.1/32', 443),
  'a part of a block': to('10.1.2.0/24', 5432),
  'the same pods': pods({ podSelector: app, namespaceSelector: inVault }),
  'the same pods, their namespace understood': pods({ podSelector: app }),
  'some of the pods': pods({ podSelector: { matchLabels: { app: 'vault', tier: 'a' } } }),
  nothing: egress(),
  'other pods more': { ...egress({}), podSelector: { matchLabels: { app: 'other' } } },
  ingress: { podSelector: {}, policyTypes: ['Ingress'] },
};
for (const [what, spec] of Object.entries(notWider)) {
  test(`are not those that allow ${what}`, () => assert.equal(names(spec), []));
}

test('take the store to be allowed for pods with the proxy, and nobody where there are no pods', () => {
  const store = to('198.51.100.1/32', 443);
  assert.equal(names(store, [{ ...labels, 'svc/proxy': 'true' }]), []);
  assert.equal(names(store, [{ ...labels, 'svc/proxy': 'true' }, labels]), ['other']);
  assert.equal(names(egress({}), []), []);
});

test('are never missed: where one lets a connection through that ours do not, it is named', () => {
  const peer = fc.oneof(
    fc
      .constantFrom('192.0.2.1/32', '192.0.2.0/30', '10.1.0.0/16', '10.0.0.0/8')
      .map((cidr) => ({ ipBlock: { cidr } })),
    fc.record({ podSelector: fc.constantFrom(app, {}) }),
    fc.record({ podSelector: fc.constantFrom(app, {}), namespaceSelector: fc.constantFrom(inVault, {}) }),
  );
  const port = fc.record(
    { port: fc.constantFrom(443, 5432, 8200), protocol: fc.constantFrom('TCP', 'UDP') },
    { requiredKeys: [] },
  );
  const rule = fc.record({ to: fc.array(peer, { maxLength: 2 }), ports: fc.array(port, { maxLength: 2 }) });
  let wide = 0;
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 3 }), (rules) => {
      const more = connections().some(
        (probe) => reaches([...ours, policy(rules)], probe) && !reaches(ours, probe),
      );
      if (!more) return;
      wide += 1;
      assert.equal(names(egress(...rules)), ['other']);
    }),
    { numRuns: 300 },
  );
  assert.ok(wide > 30, `only ${wide} were wider at all`);
});

interface Probe {
  readonly to: PolicyPod | undefined;
  readonly ip: string;
  readonly port: number;
  readonly protocol: string;
}

function connections(): Probe[] {
  const pod = (namespace: string, name: string) => ({ namespace, labels: { app: name }, ips: [], named: {} });
  const peers = [pod('vault', 'vault'), pod('vault', 'x'), pod('y', 'vault'), undefined];
  return peers.flatMap((to) =>
    ['192.0.2.1', '192.0.2.2', '10.1.1.1', '10.2.1.1'].flatMap((ip) =>
      [443, 5432, 8200].flatMap((port) => ['TCP', 'UDP'].map((protocol) => ({ to, ip, port, protocol }))),
    ),
  );
}

function reaches(policies: readonly (NetworkPolicy | object)[], probe: Probe): boolean {
  return mayConnect(policies, { ...probe, from: { namespace: 'vault', labels, ips: [], named: {} } });
}

function policy(rules: readonly ObservedRule[]): ObservedPolicy & { metadata: { namespace: string } } {
  return { name: 'other', metadata: { namespace: 'vault' }, spec: egress(...rules) };
}

const malformed: Readonly<Record<string, unknown>> = {
  'no object': 'text',
  'types that are no list': { podSelector: {}, policyTypes: 5 },
  'rules that are no list': { policyTypes: ['Egress'], egress: 5 },
  'a rule that is no object': { policyTypes: ['Egress'], egress: [null] },
  'peers that are no list': { policyTypes: ['Egress'], egress: [{ to: null, ports: [{ port: 1 }] }] },
  'a block without an address': { policyTypes: ['Egress'], egress: [{ to: [{ ipBlock: { cidr: 5 } }] }] },
  'labels that are no map': { podSelector: { matchLabels: null }, policyTypes: ['Egress'] },
  'requirements that are none': { podSelector: { matchExpressions: [null] }, policyTypes: ['Egress'] },
};
const known = (spec: unknown) => {
  const metadata = { name: 'other', namespace: 'n', uid: 'u', resourceVersion: '1' };
  return projectPolicy({ metadata, spec } as PolicyObject).spec;
};
for (const [name, spec] of Object.entries(malformed))
  test(`a malformed policy counts as one that allows everything: ${name}`, () => {
    assert.equal(names(known(spec)), ['other']);
  });

test('no policy, however malformed, makes it fail', () => {
  const keys = [
    'podSelector',
    'policyTypes',
    'egress',
    'to',
    'ports',
    'ipBlock',
    'cidr',
    'matchLabels',
    'key',
  ];
  const member = fc.oneof(fc.constantFrom(...keys), fc.string());
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom<unknown>(null, 5, 'Egress', '10.0.0.0/8', true),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(member, tie('value'), { maxKeys: 4 }),
    ),
  }));
  const spec = fc.record({ podSelector: value, policyTypes: value, egress: value }, { requiredKeys: [] });
  fc.assert(fc.property(spec, (each) => void names(known(each))));
});

test('are found soon, whatever others write and however many labels pods have', () => {
  const peers = Array.from({ length: 3_000 }, (_, at) => ({
    ipBlock: { cidr: `10.1.${at >> 8}.${at & 255}/32` },
  }));
  const ports = [{ protocol: 'TCP' as const, port: 443 }];
  const rule = { to: peers, ports };
  const [like] = ours;
  assert.ok(like);
  const own = [{ ...like, spec: { ...like.spec, egress: [rule] } }];
  const others = [{ name: 'same', spec: egress({ to: peers.toReversed(), ports }) }];
  const pods = Array.from({ length: 1_000 }, (_, at) => ({ 'svc/protected': 'true', app: `${at}` }));
  const before = process.cpuUsage();
  assert.equal(wideningPolicies({ ours: own, others, pods }), []);
  const { user, system } = process.cpuUsage(before);
  assert.ok((user + system) / 1_000 < 1_000, `${(user + system) / 1_000} ms`);
});

test.run();
