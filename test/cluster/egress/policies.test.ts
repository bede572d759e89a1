import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { EgressEndpoint, EgressFacts, ServiceFacts } from '../../../src/cluster/egress/contract.ts';
import { egressPolicies } from '../../../src/cluster/egress/policies.ts';

const test = suite('egress policies');

const dns: ServiceFacts = {
  ...{ namespace: 'kube-system', name: 'kube-dns', clusterIPs: ['10.96.0.10', 'fd00::a'] },
  ...{ selector: { 'k8s-app': 'kube-dns' }, targetPort: 53, port: 53, endpoints: [] },
};
const vault: ServiceFacts = {
  ...{
    namespace: 'vault',
    name: 'vault',
    clusterIPs: ['10.96.3.4'],
    targetPort: 8200,
    port: 443,
    endpoints: [],
  },
  selector: { 'app.kubernetes.io/name': 'vault', app: 'vault' },
};
const inCluster: EgressEndpoint = { kind: 'service', host: 'vault.vault.svc', service: vault, port: 443 };
const facts: EgressFacts = {
  namespace: 'shop',
  vaults: [inCluster],
  stores: [],
  apiServer: [
    { address: '10.96.0.1', port: 443 },
    { address: '192.0.2.20', port: 6443 },
    { address: '2001:DB8:0::20', port: 6443 },
  ],
  dns: { service: dns, addresses: ['169.254.20.10'] },
  extra: [],
};
const external = (host: string, addresses: readonly string[], port = 443): EgressEndpoint => ({
  ...{ kind: 'external', host, addresses, port },
});
const given = (more: Partial<EgressFacts>) => egressPolicies({ ...facts, ...more });
/** Peers and ports of a policy as text. */
function allowedBy(more: Partial<EgressFacts>, index = 0): string[] {
  const rules = given(more).policies[index]?.spec.egress ?? [];
  return rules.flatMap(({ to, ports }) =>
    to.flatMap((peer) =>
      ports.map(({ protocol, port }) => {
        const where = 'ipBlock' in peer ? peer.ipBlock.cidr : JSON.stringify(peer.podSelector.matchLabels);
        return `${where} ${protocol} ${port}`;
      }),
    ),
  );
}
const added = (more: Partial<EgressFacts>) => allowedBy(more).filter((each) => !allowedBy({}).includes(each));

test('select the protected pods and allow the secrets server, the API server and DNS', () => {
  const both = [
    { protocol: 'TCP', port: 53 },
    { protocol: 'UDP', port: 53 },
  ];
  const pods = (namespace: string, matchLabels: Record<string, string>) => ({
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    podSelector: { matchLabels },
  });
  assert.equal(egressPolicies(facts), {
    policies: [
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: {
          name: 'svc-egress-shop',
          namespace: 'shop',
          labels: {
            'app.kubernetes.io/component': 'egress',
            'app.kubernetes.io/managed-by': 'svc-operator',
            'app.kubernetes.io/name': 'svc',
          },
        },
        spec: {
          podSelector: { matchLabels: { 'svc/protected': 'true' } },
          policyTypes: ['Egress'],
          egress: [
            {
              to: [
                pods('kube-system', { 'k8s-app': 'kube-dns' }),
                ...['10.96.0.10/32', '169.254.20.10/32', 'fd00::a/128'].map((cidr) => ({
                  ipBlock: { cidr },
                })),
              ],
              ports: both,
            },
            {
              to: [pods('vault', { app: 'vault', 'app.kubernetes.io/name': 'vault' })],
              ports: [{ protocol: 'TCP', port: 8200 }],
            },
            {
              to: ['10.96.0.1/32', '10.96.3.4/32'].map((cidr) => ({ ipBlock: { cidr } })),
              ports: [{ protocol: 'TCP', port: 443 }],
            },
            {
              to: ['192.0.2.20/32', '2001:db8::20/128'].map((cidr) => ({ ipBlock: { cidr } })),
              ports: [{ protocol: 'TCP', port: 6443 }],
            },
          ],
        },
      },
    ],
    warnings: [],
  });
});

test('give a name outside its addresses, the port of its URL, an annotation and a warning', () => {
  const name = external('vault.example.com', ['203.0.113.9', '2001:db8::9', '203.0.113.10'], 8443);
  assert.equal(added({ vaults: [name] }), [
    '203.0.113.9/32 TCP 8443',
    '203.0.113.10/32 TCP 8443',
    '2001:db8::9/128 TCP 8443',
  ]);
  const { policies, warnings } = given({ vaults: [name] });
  assert.equal(policies[0]?.metadata.annotations, {
    'svc/egress-hosts': 'vault.example.com=2001:db8::9,203.0.113.10,203.0.113.9',
  });
  assert.equal(warnings, [
    'Secrets server vault.example.com is allowed by its current addresses, which can change',
  ]);
});

test('give an address in a URL no annotation and no warning', () => {
  for (const [host, block] of [
    ['203.0.113.9', '203.0.113.9/32'],
    ['[2001:db8::9]', '2001:db8::9/128'],
  ] as const) {
    const { policies, warnings } = given({ vaults: [external(host, [])] });
    assert.equal(added({ vaults: [external(host, [])] }), [`${block} TCP 443`]);
    assert.is(policies[0]?.metadata.annotations, undefined);
    assert.equal(warnings, []);
  }
});

test('keep the object store to the pods with the proxy', () => {
  const { policies } = given({ stores: [external('s3.example.com', ['198.51.100.7'])] });
  const [main, store] = policies;
  assert.is(policies.length, 2);
  assert.not.match(JSON.stringify(main), '198.51.100.7');
  assert.is(store?.metadata.name, 'svc-egress-shop-store');
  assert.equal(store?.metadata.annotations, { 'svc/egress-hosts': 's3.example.com=198.51.100.7' });
  assert.equal(store?.spec, {
    podSelector: { matchLabels: { 'svc/proxy': 'true' } },
    policyTypes: ['Egress'],
    egress: [{ to: [{ ipBlock: { cidr: '198.51.100.7/32' } }], ports: [{ protocol: 'TCP', port: 443 }] }],
  });
});

test('take the endpoints of a Service without a selector', () => {
  const service = { ...vault, selector: {}, endpoints: [{ address: '192.0.2.77', port: 8200 }] };
  const endpoint: EgressEndpoint = { ...inCluster, service };
  assert.equal(added({ vaults: [endpoint] }), ['192.0.2.77/32 TCP 8200']);
  assert.ok(allowedBy({ vaults: [endpoint] }).includes('10.96.3.4/32 TCP 443'));
});

test('take the port that a headless Service is asked for', () => {
  const service = { ...vault, clusterIPs: [], port: 8200, targetPort: 8201 };
  const allowed = allowedBy({ vaults: [{ kind: 'service', host: 'vault.vault.svc', service, port: 8200 }] });
  assert.ok(allowed.some((each) => each.includes('vault') && each.endsWith('TCP 8200')));
  assert.not.ok(allowed.some((each) => each.endsWith('8201')));
});

test('keep the name of a port that has no one number', () => {
  const service = { ...vault, targetPort: 'https' };
  const allowed = allowedBy({ vaults: [{ ...inCluster, service }] });
  assert.ok(allowed.some((each) => each.endsWith('TCP https')));
});

test('take the usual DNS when none is known, and the named servers alone when they are', () => {
  const unknown = given({ dns: { service: undefined, addresses: [] } });
  assert.match(JSON.stringify(unknown.policies), '{"matchLabels":{"k8s-app":"kube-dns"}}');
  assert.equal(unknown.warnings, [
    'The DNS of the cluster is not known; the usual pods of kube-system are allowed',
  ]);
  const named = given({ dns: { service: undefined, addresses: ['192.0.2.53'] } });
  assert.not.match(JSON.stringify(named.policies), 'kube-dns');
  assert.match(JSON.stringify(named.policies), '192.0.2.53/32');
  assert.equal(named.warnings, []);
});

const neverServers = [
  '0.0.0.0',
  '::',
  '127.0.0.1',
  '::1',
  '169.254.169.254',
  'fe80::1',
  '224.0.0.1',
  'ff02::1',
  // metadata servers of clouds: AWS, Google Cloud, Oracle, Alibaba, Azure, Oracle before
  ...['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fd00:c1::a9fe:a9fe'],
  ...['100.100.100.200', '168.63.129.16', '192.0.0.192'],
  // of this machine or its cloud, through a translation or a tunnel
  ...['64:ff9b::a9fe:a9fe', '64:ff9b::7f00:1', '64:ff9b::6464:64c8', '::a9fe:a9fe', '2002:7f00:1::1'],
];
for (const address of [
  ...neverServers,
  '255.255.255.255',
  '010.0.0.1',
  '1',
  '10.0.0.0/8',
  'fe80::1%eth0',
  '',
]) {
  test(`leave ${address === '' ? 'nothing' : address} out of what a name stands for`, () => {
    const { policies, warnings } = given({ vaults: [external('vault.example.com', [address, '192.0.2.9'])] });
    assert.equal(added({ vaults: [external('vault.example.com', [address, '192.0.2.9'])] }), [
      '192.0.2.9/32 TCP 443',
    ]);
    assert.is(policies[0]?.metadata.annotations?.['svc/egress-hosts'], 'vault.example.com=192.0.2.9');
    assert.is(
      warnings.filter((text) => text.includes(`: ${address} cannot be the address of a remote server`))
        .length,
      1,
    );
  });
}

test('allow what NAT64 translates to a server, and metadata servers in a block or for DNS', () => {
  assert.equal(added({ vaults: [external('vault.example.com', ['64:ff9b::c000:209'])] }), [
    '64:ff9b::c000:209/128 TCP 443',
  ]);
  assert.equal(added({ extra: [{ cidr: 'fd00:ec2::254/128', port: 80 }] }), ['fd00:ec2::254/128 TCP 80']);
  const { policies, warnings } = given({ dns: { service: undefined, addresses: ['168.63.129.16'] } });
  assert.match(JSON.stringify(policies), '168.63.129.16/32');
  assert.equal(warnings, []);
});

test('write an IPv4 address within IPv6 as what it is', () => {
  assert.equal(added({ vaults: [external('a.example', ['::ffff:192.0.2.9', '192.0.2.9'])] }), [
    '192.0.2.9/32 TCP 443',
  ]);
});

test('say what is not known instead of allowing more', () => {
  const { policies, warnings } = given({ vaults: [external('vault.example.com', [])], apiServer: [] });
  assert.equal(warnings, [
    'No address of the API server is known; it cannot be reached',
    'Secrets server vault.example.com has no known address; it cannot be reached',
  ]);
  assert.is(policies[0]?.spec.egress.length, 1);
  assert.equal(given({ vaults: [] }).warnings, ['No secrets server is known; none can be reached']);
});

const blocks: Readonly<Record<string, string | undefined>> = {
  '10.0.0.0/8': '10.0.0.0/8',
  '192.0.2.77/24': '192.0.2.0/24',
  '2001:DB8:1::/48': '2001:db8:1::/48',
  'fc00::/7': 'fc00::/7',
  '::ffff:192.0.2.0/120': '192.0.2.0/24',
  '192.0.2.7/32': '192.0.2.7/32',
  '0.0.0.0/0': undefined,
  '::/0': undefined,
  '0.0.0.0/1': undefined,
  '128.0.0.0/7': undefined,
  '2000::/3': undefined,
  '::ffff:0:0/96': undefined,
  '::ffff:0.0.0.0/97': undefined,
  '::ffff:0:0/90': undefined,
  '64:ff9b::/96': undefined,
  '10.0.0.0': undefined,
  '10.0.0.0/33': undefined,
  '10.0.0.0/08': undefined,
  '10.0.0.0/-1': undefined,
  '10.0.0/24': undefined,
  'a.example/24': undefined,
  '2001:db8::/129': undefined,
};
for (const [cidr, block] of Object.entries(blocks)) {
  test(`${block === undefined ? 'refuse' : 'take'} the block ${cidr}`, () => {
    const extra = [{ cidr, port: 5432 }];
    assert.equal(added({ extra }), block === undefined ? [] : [`${block} TCP 5432`]);
    assert.is(given({ extra }).warnings.length, block === undefined ? 1 : 0);
  });
}

/** All of IPv4 but for 0/8, in blocks each of which is narrow enough. */
const everything = Array.from({ length: 255 }, (_, index) => ({ cidr: `${index + 1}.0.0.0/8` }));

test('leave out all blocks that are nearly every address together, and keep what is beside them', () => {
  const extra = [...everything, { host: 'more.example', addresses: ['192.0.2.50'] }];
  assert.equal(added({ extra }), ['192.0.2.50/32 TCP 443']);
  const { warnings } = given({ extra });
  assert.is(warnings.filter((one) => one.includes('together cover more than a quarter')).length, 1);
  const narrow = everything.slice(0, 64);
  assert.is(added({ extra: narrow }).length, 64);
  assert.is(added({ extra: [...narrow, { cidr: '0.0.0.0/0' }] }).length, 64);
  assert.is(added({ extra: [...narrow, ...narrow] }).length, 64);
  assert.equal(added({ extra: everything.slice(0, 65) }), []);
});

test('leave out declared blocks of the store that are nearly every address together', () => {
  const stores = [external('store.example', ['192.0.2.60'], 443)];
  const blocksWith = (storeBlocks: readonly string[]) =>
    given({ stores, storeBlocks }).policies[1]?.spec.egress.flatMap(({ to }) => to).length;
  assert.is(blocksWith(['198.51.100.0/24']), 2);
  assert.is(blocksWith(everything.map(({ cidr }) => cidr)), 1);
});

test('take further hosts and Services, and UDP', () => {
  const db = {
    ...vault,
    namespace: 'data',
    selector: { app: 'db' },
    clusterIPs: [],
    targetPort: 53,
    port: 1812,
  };
  const extra = [
    { host: 'radius.data', service: db, port: 1812, protocol: 'UDP' as const },
    { host: 'more.example', addresses: ['192.0.2.50'] },
  ];
  assert.equal(added({ extra }), ['{"app":"db"} UDP 1812', '192.0.2.50/32 TCP 443']);
  assert.equal(added({ extra: [{}] }), []);
});

test('leave out what is on no port that there is', () => {
  const { warnings } = given({
    vaults: [external('192.0.2.9', [], 0)],
    extra: [{ cidr: '10.0.0.0/24', port: 65_536 }],
  });
  assert.equal(warnings, [
    'Port 0 is not from 1 to 65535; it is left out',
    'Port 65536 is not from 1 to 65535; it is left out',
  ]);
});

test.run();
