import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { egressPolicies } from '../../../src/cluster/egress/policies.ts';
import { KubeError, type KubeErrorCode, type KubeRequest } from '../../../src/cluster/kube/client.ts';
import {
  type ClusterAddresses,
  createClusterAddresses,
} from '../../../src/cluster/kube/cluster-addresses.ts';
import { gatherFacts } from '../../../src/cluster/kube/gather-facts.ts';
import { createNameBook } from '../../../src/cluster/kube/name-book.ts';
import { fakeClient } from '../../support/fake-client.ts';

interface Rig {
  objects: Record<string, object | KubeErrorCode>;
  requests: KubeRequest[];
  names: string[];
  now: number;
  addresses: ClusterAddresses;
}

const test = suite<Rig>('addresses of a cluster');
const { signal } = new AbortController();

test.before.each((rig) => {
  Object.assign(rig, { objects: {}, requests: [], names: [], now: 0 });
  const client = fakeClient(async <T>(request: KubeRequest) => {
    rig.requests.push(request);
    const { path, query } = request;
    const found = rig.objects[`${path}${query?.['labelSelector'] ? `?${query['labelSelector']}` : ''}`];
    const code = typeof found === 'string' ? found : 'KUBE_NOT_FOUND';
    if (typeof found === 'object') return found as T;
    if (/\/(services|endpointslices)$/.test(path) && code === 'KUBE_NOT_FOUND') return list() as T;
    throw new KubeError(code, path);
  });
  const resolver = async (host: string) => {
    rig.names.push(host);
    return { addresses: ['203.0.113.1'], failed: false };
  };
  const now = () => rig.now;
  rig.addresses = createClusterAddresses({
    client,
    now,
    names: createNameBook({ resolver, now }),
    freshMs: 10,
  });
});

const unexpected = () => assert.unreachable();
const list = (...items: object[]) => ({ metadata: { resourceVersion: '1' }, items });
const meta = (namespace: string, name: string) => ({
  metadata: { namespace, name, uid: 'u', resourceVersion: '1' },
});
const service = (namespace: string, name: string, spec: object) => ({ ...meta(namespace, name), spec });
const at = (namespace: string, name: string) => `/api/v1/namespaces/${namespace}/services/${name}`;
const slicesAt = (namespace: string, name: string) =>
  `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?kubernetes.io/service-name=${name}`;
const slice = (addresses: string[], ports: object[] | null, addressType = 'IPv4') => ({
  ...meta('vault', 'slice'),
  ...{ addressType, ports, endpoints: [{ addresses }, {}] },
});
const to = (rig: Rig, host: string, port = 443, namespace = 'shop') =>
  rig.addresses.endpointOf({ host, port }, namespace, signal);
const vault = {
  clusterIPs: ['10.96.3.4', 'fd00::4'],
  selector: { app: 'vault' },
  ports: [{ name: 'api', port: 443, targetPort: 8200 }],
};

test('are those of a Service by each of its names, and of its one port', async (rig) => {
  rig.objects[at('vault', 'vault')] = service('vault', 'vault', vault);
  for (const host of ['vault.vault', 'vault.vault.svc', 'Vault.vault.svc.cluster.local.']) {
    const found = await to(rig, host);
    assert.is(found.kind, 'service');
    assert.equal(found.kind === 'service' && found.service, {
      ...{
        namespace: 'vault',
        name: 'vault',
        clusterIPs: ['10.96.3.4', 'fd00::4'],
        selector: { app: 'vault' },
      },
      ...{ targetPort: 8200, port: 443, endpoints: [] },
    });
  }
  assert.is((await to(rig, 'vault', 443, 'vault')).kind, 'service');
  assert.equal(await to(rig, 'vault.vault.svc', 8200), {
    ...{ kind: 'external', host: 'vault.vault.svc', addresses: [], port: 8200 },
  });
  assert.equal(rig.names, []);
});

test('resolve a named port where it is the same everywhere', async (rig) => {
  const named = { ...vault, ports: [{ name: 'api', port: 443, targetPort: 'https' }] };
  rig.objects[at('vault', 'vault')] = service('vault', 'vault', named);
  const port = async () => {
    rig.now += 10;
    const found = await to(rig, 'vault.vault');
    return found.kind === 'service' && [found.service.targetPort, found.service.endpoints.length];
  };
  rig.objects[slicesAt('vault', 'vault')] = list(
    slice(
      ['10.1.1.1'],
      [
        { name: 'api', port: 8200 },
        { name: 'x', port: 9 },
      ],
    ),
  );
  assert.equal(await port(), [8200, 0]);
  rig.objects[slicesAt('vault', 'vault')] = list(
    slice(['10.1.1.1'], [{ name: 'api', port: 8200 }]),
    slice(['10.1.1.2'], [{ name: 'api', port: 8300 }]),
  );
  assert.equal(await port(), ['https', 0]);
  rig.objects[slicesAt('vault', 'vault')] = list();
  assert.equal(await port(), ['https', 0]);
});

test('are the endpoints of a Service without a selector', async (rig) => {
  rig.objects[at('vault', 'vault')] = service('vault', 'vault', {
    clusterIPs: ['10.96.3.4'],
    ports: [{ port: 443 }],
  });
  rig.objects[slicesAt('vault', 'vault')] = list(
    slice(
      ['192.0.2.1', '192.0.2.2'],
      [{ name: '', port: 8200 }, { port: null }, { port: 8200, protocol: 'UDP' }],
    ),
    slice(['2001:db8::1'], [{ port: 8300 }], 'IPv6'),
    slice(['name.example'], [{ port: 8200 }], 'FQDN'),
    slice(['192.0.2.3'], null),
  );
  const found = await to(rig, 'vault.vault');
  assert.equal(found.kind === 'service' && found.service.endpoints, [
    { address: '192.0.2.1', port: 8200 },
    { address: '192.0.2.2', port: 8200 },
    { address: '2001:db8::1', port: 8300 },
  ]);
});

test('are not those of what is too large to be read', async (rig) => {
  const headless = { clusterIPs: ['10.96.3.4'], ports: [{ port: 443 }] };
  const large = slice(Array(200_000).fill('192.0.2.9'), [{ port: 8200 }]);
  rig.objects[at('vault', 'vault')] = service('vault', 'vault', headless);
  rig.objects[slicesAt('vault', 'vault')] = list(large, slice(['192.0.2.1'], [{ port: 8200 }]));
  const found = await to(rig, 'vault.vault');
  assert.equal(found.kind === 'service' && found.service.endpoints, [{ address: '192.0.2.1', port: 8200 }]);
  rig.objects[at('vault', 'large')] = 'KUBE_TOO_LARGE';
  const nowhere = { kind: 'external', host: 'large.vault.svc', addresses: [], port: 443 };
  assert.equal(await to(rig, 'large.vault.svc'), nowhere);
});

test('are any port of a headless Service', async (rig) => {
  rig.objects[at('vault', 'internal')] = service('vault', 'internal', {
    clusterIPs: ['None'],
    selector: { app: 'vault' },
  });
  const found = await to(rig, 'vault-0.internal.vault.svc', 8200);
  assert.equal(found.kind === 'service' && [found.service.clusterIPs, found.service.targetPort], [[], 8200]);
});

test('are those of DNS for names outside, also by an ExternalName, and never for what says svc', async (rig) => {
  const external = (host: string) => ({ kind: 'external', host, addresses: ['203.0.113.1'], port: 443 });
  assert.equal(await to(rig, 'vault.example.com'), external('vault.example.com'));
  assert.equal(await to(rig, 'example.com'), external('example.com'));
  rig.objects[at('shop', 'vault')] = service('shop', 'vault', {
    type: 'ExternalName',
    externalName: 'Real.example.com',
  });
  assert.equal(await to(rig, 'vault'), external('real.example.com'));
  assert.equal(rig.names, ['vault.example.com', 'example.com', 'real.example.com']);
  for (const host of ['none.vault.svc', '192.0.2.1', '[2001:db8::1]']) {
    assert.equal(await to(rig, host), { kind: 'external', host, addresses: [], port: 443 });
  }
  assert.is(rig.names.length, 3);
});

test('are not asked for again at once, and failures are not remembered', async (rig) => {
  const path = at('vault', 'vault');
  rig.objects[path] = 'KUBE_UNAVAILABLE';
  await to(rig, 'vault.vault').then(unexpected, (error) => assert.instance(error, KubeError));
  rig.objects[path] = service('vault', 'vault', vault);
  for (const _ of [1, 2, 3]) assert.is((await to(rig, 'vault.vault')).kind, 'service');
  assert.is(rig.requests.length, 2);
  rig.now += 10;
  await to(rig, 'vault.vault');
  assert.is(rig.requests.length, 3);
});

test('of further destinations are looked up by their host alone', async (rig) => {
  const { extraOf } = rig.addresses;
  rig.objects[at('data', 'db')] = service('data', 'db', {
    ...vault,
    ports: [{ port: 1812, protocol: 'UDP' }],
  });
  assert.equal(await extraOf({ cidr: '10.0.0.0/24' }, 'shop', signal), { cidr: '10.0.0.0/24' });
  assert.equal(await extraOf({ host: 'a.example.com' }, 'shop', signal), {
    host: 'a.example.com',
    addresses: ['203.0.113.1'],
  });
  const found = await extraOf({ host: 'db.data', port: 1812, protocol: 'UDP' }, 'shop', signal);
  assert.is(found.service?.targetPort, 1812);
  assert.equal((await extraOf({ host: 'db.data', port: 1812 }, 'shop', signal)).addresses, []);
});

test('of the API server are its own and all behind it', async (rig) => {
  rig.objects[at('default', 'kubernetes')] = service('default', 'kubernetes', {
    ...{ clusterIPs: ['10.96.0.1'], ports: [{ name: 'https', port: 443, targetPort: 6443 }] },
  });
  rig.objects[slicesAt('default', 'kubernetes')] = list(
    slice(['192.0.2.1', '192.0.2.2'], [{ name: 'https', port: 6443 }]),
    slice(['2001:db8::1'], [{ port: 7443 }], 'IPv6'),
  );
  assert.equal(await rig.addresses.apiServer(signal), [
    { address: '10.96.0.1', port: 443 },
    { address: '192.0.2.1', port: 6443 },
    { address: '192.0.2.2', port: 6443 },
    { address: '2001:db8::1', port: 7443 },
  ]);
});

const dnsPorts = [
  { name: 'dns', port: 53, protocol: 'UDP', targetPort: 5353 },
  { name: 'dns-tcp', port: 53, protocol: 'TCP', targetPort: 5353 },
];
const cache = '/apis/apps/v1/namespaces/kube-system/daemonsets/node-local-dns';

test('of DNS are those of the usual Service, of one with its label, and of OpenShift', async (rig) => {
  const spec = { clusterIPs: ['10.96.0.10'], selector: { 'k8s-app': 'kube-dns' }, ports: dnsPorts };
  const name = async () => {
    rig.now += 10;
    const { service, addresses } = await rig.addresses.dns(signal);
    assert.equal(addresses, []);
    return service && `${service.namespace}/${service.name} ${service.targetPort}`;
  };
  assert.is(await name(), undefined);
  rig.objects[at('openshift-dns', 'dns-default')] = service('openshift-dns', 'dns-default', spec);
  assert.is(await name(), 'openshift-dns/dns-default 5353');
  const labelled = '/api/v1/namespaces/kube-system/services?k8s-app=kube-dns';
  const metrics = service('kube-system', 'a-metrics', { ...spec, ports: [{ port: 9153 }] });
  rig.objects[labelled] = list(service('kube-system', 'rke2-coredns', spec), metrics);
  assert.is(await name(), 'kube-system/rke2-coredns 5353');
  rig.objects[at('kube-system', 'kube-dns')] = service('kube-system', 'kube-dns', spec);
  assert.is(await name(), 'kube-system/kube-dns 5353');
});

test('of DNS include the cache of the node, beside a Service that is known or usual', async (rig) => {
  rig.objects[cache] = meta('kube-system', 'node-local-dns');
  const { service, addresses } = await rig.addresses.dns(signal);
  assert.equal(addresses, ['169.254.20.10']);
  assert.is(service?.name, 'kube-dns');
  rig.objects[cache] = 'KUBE_DENIED';
  rig.now += 10;
  assert.equal((await rig.addresses.dns(signal)).addresses, []);
  rig.objects[cache] = 'KUBE_UNAVAILABLE';
  rig.now += 10;
  await rig.addresses.dns(signal).then(unexpected, (error) => assert.is(error.code, 'KUBE_UNAVAILABLE'));
});

test('of a namespace are those of its first 256 secrets servers, and it is told', async (rig) => {
  const vaults = new Set(Array.from({ length: 300 }, (_, number) => `https://n${number}.example.com`));
  const wanted = { vaults, stores: new Set<string>(), storeBlocks: [], extra: [], warnings: ['first'] };
  const facts = await gatherFacts('shop', wanted, rig.addresses, signal);
  assert.is(facts.vaults.length, 256);
  assert.is(rig.names.length, 256);
  assert.equal(facts.warnings, [
    'first',
    'The pods use 300 secrets servers; all but 256 are left out of the policy',
  ]);
});

/** Ports 1 to `count` of one name. */
const onPorts = (host: string, count: number) =>
  Array.from({ length: count }, (_, at) => ({ host, port: at + 1 }));

test('of a namespace are at most 8,192 with their ports, and it is told', async (rig) => {
  const many = Array.from({ length: 512 }, (_, at) => `198.51.${100 + (at >> 8)}.${at & 255}`);
  const names = createNameBook({
    now: () => 0,
    resolver: async () => ({ addresses: many, failed: false }),
  });
  const client = fakeClient(() => Promise.reject(new Error('nothing of the cluster is asked')));
  const addresses = createClusterAddresses({ client, now: () => 0, names });
  const servers = { ...rig.addresses, endpointOf: addresses.endpointOf, extraOf: addresses.extraOf };
  const none = { vaults: new Set<string>(), stores: new Set<string>(), storeBlocks: [], warnings: [] };
  const wanted = { ...none, extra: onPorts('many.names.example', 1_024) };
  const facts = await gatherFacts('shop', wanted, servers, signal);
  const known = facts.extra.filter((each) => (each.addresses?.length ?? 0) > 0);
  assert.is(known.length, 16);
  assert.is(facts.extra.length, 1_024);
  assert.match(facts.warnings?.join() ?? '', 'more than 8192 addresses and ports');
  const before = process.cpuUsage();
  const { policies } = egressPolicies(facts);
  const { user, system } = process.cpuUsage(before);
  assert.ok((user + system) / 1_000 < 1_000, 'one namespace holds up all others');
  assert.is(policies[0]?.spec.egress.flatMap(({ to }) => to).length, 512 + 1);
});

test('are the first 256 of a Service without a selector, of whatever its slices have', async (rig) => {
  const { selector: _, ...own } = vault;
  rig.objects[at('vault', 'vault')] = service('vault', 'vault', own);
  const addresses = Array.from(
    { length: 90_000 },
    (_, at) => `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`,
  );
  const ports = [{ name: 'api', port: 8200 }];
  rig.objects[slicesAt('vault', 'vault')] = list(slice(addresses, ports), slice(addresses, ports));
  const found = await to(rig, 'vault.vault');
  assert.is(found.kind === 'service' && found.service.endpoints.length, 256);
  const wanted = { vaults: new Set(['https://vault.vault']), stores: new Set<string>() };
  const more = { storeBlocks: [], warnings: [], extra: [] };
  const facts = await gatherFacts('shop', { ...wanted, ...more }, rig.addresses, signal);
  assert.match(facts.warnings?.join() ?? '', 'Service vault/vault may have more than 256 endpoints');
});

test.run();
