import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { NetworkPolicy } from '../../../src/cluster/egress/contract.ts';
import type { KubeClient } from '../../../src/cluster/kube/client.ts';
import type { NameAnswer } from '../../../src/cluster/kube/name-book.ts';
import { generatePolicies } from '../../../src/plugins/netpol/generate.ts';
import { netpolSettings } from '../../../src/plugins/netpol/settings.ts';
import { SvcError } from '../../../src/runtime/errors.ts';
import { resolveSettings } from '../../../src/runtime/settings/resolve.ts';
import { clusterOf } from './clusters.ts';
import { fakeCluster } from './fake-cluster.ts';

const test = suite('generated policies');

function generate(
  flags: Readonly<Record<string, string | boolean>>,
  client?: KubeClient,
  names: Readonly<Record<string, NameAnswer>> = {},
) {
  return generatePolicies({
    ...{ settings: resolveSettings(netpolSettings, { flags }), client, signal: new AbortController().signal },
    resolver: async (host) => names[host] ?? { addresses: [], failed: false },
  });
}

const blocks = ({ spec }: NetworkPolicy) =>
  spec.egress.flatMap(({ to }) => to.flatMap((peer) => ('ipBlock' in peer ? peer.ipBlock.cidr : [])));

const offline = { 'no-cluster': true, namespace: 'shop', 'vault-address': 'https://vault.example.eu' };

test('without a cluster need namespaces and the secrets server, both said at once', async () => {
  const error = await generate({ 'no-cluster': true }).then(
    () => undefined,
    (reason) => reason,
  );
  assert.instance(error, SvcError);
  assert.is(error.code, 'CONFIG_INVALID');
  assert.is(error.details.length, 2);
});

test('without a cluster take names as DNS has them, and say what may change or is not known', async () => {
  const names = {
    'vault.example.eu': { addresses: ['203.0.113.2', '203.0.113.1', '2001:db8::1'], failed: true },
    'k8s.example.eu': { addresses: ['192.0.2.1'], failed: false },
  };
  const { policies, warnings } = await generate(
    { ...offline, 'api-server': 'k8s.example.eu:6443' },
    undefined,
    names,
  );
  const [policy] = policies as NetworkPolicy[];
  assert.equal(policy && blocks(policy), [
    '192.0.2.1/32',
    '203.0.113.1/32',
    '203.0.113.2/32',
    '2001:db8::1/128',
  ]);
  assert.is(
    policy?.metadata.annotations?.['svc/egress-hosts'],
    'vault.example.eu=2001:db8::1,203.0.113.1,203.0.113.2',
  );
  assert.equal(warnings, [
    'API server k8s.example.eu is allowed by its current addresses, which can change',
    'DNS did not answer every query for vault.example.eu; addresses may be missing',
    'Secrets server vault.example.eu is allowed by its current addresses, which can change',
    'The DNS of the cluster is not known; the usual pods of kube-system are allowed',
  ]);
});

test('without a cluster ask no DNS of this machine about its Services', async () => {
  const anything = { addresses: ['203.0.113.66'], failed: false };
  for (const host of ['vault', 'vault.vault.svc', 'vault.vault.svc.cluster.local']) {
    const { policies, warnings } = await generate(
      { ...offline, 'vault-address': `https://${host}:8200`, allow: `${host}:9` },
      undefined,
      { [host]: anything },
    );
    assert.equal((policies as NetworkPolicy[]).flatMap(blocks), [], host);
    assert.ok(warnings.includes(`Secrets server ${host} has no known address; it cannot be reached`));
  }
});

const cluster = clusterOf({ family: 'ipv4', vault: 'external', apiServer: 1, dns: 'usual', store: 'none' });
const external = { 'vault.example.eu': { addresses: ['203.0.113.1'], failed: false } };

test('are the same in whatever order the API server lists', async () => {
  const reversed = Object.fromEntries(
    Object.entries(cluster.objects).map(([collection, list]) => [collection, list.toReversed()]),
  );
  const [one, other] = [cluster.objects, reversed].map((objects) =>
    generate({}, fakeCluster(objects), external),
  );
  assert.is(JSON.stringify(await one), JSON.stringify(await other));
});

test('have what is named beside what the cluster says', async () => {
  const flags = {
    ...{ 'vault-address': 'https://203.0.113.99', 'api-server': '192.0.2.77:443', dns: '10.96.0.53' },
    ...{ allow: '198.51.100.0/24:25', store: 'https://198.51.100.9', namespace: 'apps,new' },
  };
  const { policies } = await generate(flags, fakeCluster(cluster.objects), external);
  const by = new Map((policies as NetworkPolicy[]).map((each) => [each.metadata.name, blocks(each)]));
  assert.equal(
    [...by.keys()],
    ['svc-egress-apps', 'svc-egress-apps-store', 'svc-egress-new', 'svc-egress-new-store'],
  );
  for (const cidr of ['192.0.2.77/32', '10.96.0.53/32', '198.51.100.0/24', '203.0.113.1/32'])
    assert.ok(by.get('svc-egress-apps')?.includes(cidr), cidr);
  // its pod names a secrets server of its own
  assert.not.ok(by.get('svc-egress-apps')?.includes('203.0.113.99/32'));
  assert.ok(by.get('svc-egress-new')?.includes('203.0.113.99/32'));
  assert.equal(by.get('svc-egress-new-store'), ['198.51.100.9/32']);
});

test('are none where nothing is protected, which is said', async () => {
  const { policies, warnings } = await generate({}, fakeCluster({}));
  assert.equal(policies, []);
  assert.match(warnings[0] ?? '', /there is nothing to write/);
});

test('fail where something that they are made from may not be read', async () => {
  for (const collection of ['/api/v1/pods', '/api/v1/services', '/apis/discovery.k8s.io/v1/endpointslices']) {
    const error = await generate({}, fakeCluster(cluster.objects, [collection])).then(
      () => undefined,
      (e) => e,
    );
    assert.is(error?.code, 'KUBE_DENIED', collection);
    assert.match(`${error.message} ${error.details}`, new RegExp(collection.split('/').at(-1) ?? ''));
  }
});

test('of Cilium keep names as names, and look none up', async () => {
  const { policies, warnings } = await generate({ flavor: 'cilium' }, fakeCluster(cluster.objects), {});
  const text = JSON.stringify(policies);
  assert.match(text, /"toFQDNs":\[\{"matchName":"vault\.example\.eu"\}\]/);
  assert.not.match(text, /203\.0\.113/);
  assert.equal(warnings, []);
});

test.run();
