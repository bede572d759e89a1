import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { EgressFacts } from '../../../../src/cluster/egress/contract.ts';
import { KubeError, type KubeRequest } from '../../../../src/cluster/kube/client.ts';
import { createCiliumKeeper } from '../../../../src/plugins/operator/egress/term.ts';
import { fakeClient } from '../../../support/fake-client.ts';

const test = suite('policies by name, for Cilium');
const { signal } = new AbortController();
const place = '/apis/cilium.io/v2/namespaces/shop/ciliumnetworkpolicies';
const store = `${place}/svc-egress-shop-store`;

const facts: EgressFacts = {
  namespace: 'shop',
  vaults: [{ kind: 'external', host: 'vault.example.com', addresses: ['203.0.113.1'], port: 8200 }],
  stores: [{ kind: 'external', host: 's3.example.com', addresses: ['198.51.100.1'], port: 443 }],
  storeBlocks: ['192.0.2.0/24'],
  apiServer: [{ address: '192.0.2.20', port: 6443 }],
  dns: { service: undefined, addresses: [] },
  extra: [],
};

// biome-ignore lint/suspicious/noExplicitAny: objects of the API server
type Objects = Map<string, any>;

/** An API server with these definitions and objects, which notes what is written. */
function cluster({ cilium = true, denied = false, objects = new Map() as Objects } = {}) {
  const written: string[] = [];
  const client = fakeClient(async <T>({ method = 'GET', path, body }: KubeRequest) => {
    if (path === '/apis/cilium.io/v2') {
      if (!cilium) throw new KubeError('KUBE_NOT_FOUND', '404');
      return { resources: [{ name: 'ciliumnetworkpolicies' }] } as T;
    }
    if (denied) throw new KubeError('KUBE_DENIED', '403');
    if (method !== 'GET') written.push(`${method} ${path}`);
    if (method === 'DELETE') objects.delete(path);
    if (method === 'PATCH') {
      const { metadata, spec } = body as { metadata: object; spec: object };
      objects.set(path, { metadata: { uid: 'u', resourceVersion: '1', ...metadata }, spec });
    }
    if (method === 'GET' && !objects.has(path)) throw new KubeError('KUBE_NOT_FOUND', '404');
    return objects.get(path) as T;
  });
  const applied: string[] = [];
  const onApplied = ({ name }: { name: string }) => void applied.push(name);
  return { keeper: createCiliumKeeper({ client, now: () => 0, onApplied }), objects, written, applied };
}

test('say names as names, so that a store may point anywhere, and declared blocks beside', async () => {
  const { keeper, objects } = cluster();
  assert.equal(await keeper.keep(facts, signal), []);
  const rules = JSON.stringify(objects.get(store).spec);
  assert.match(rules, /"toFQDNs":\[\{"matchName":"s3.example.com"\}\]/);
  assert.match(rules, /"toCIDR":\["192.0.2.0\/24"\]/);
  assert.not.match(rules, /198\.51\.100\.1/);
  assert.match(JSON.stringify(objects.get(`${place}/svc-egress-shop`).spec), /vault.example.com/);
});

test('are written once, corrected where they differ, and removed when they are not needed', async () => {
  const { keeper, objects, written, applied } = cluster();
  await keeper.keep(facts, signal);
  await keeper.keep({ ...facts, stores: [...facts.stores] }, signal);
  assert.equal(applied, ['svc-egress-shop', 'svc-egress-shop-store']);
  objects.get(store).spec = { endpointSelector: {}, egress: [{ toEntities: ['world'] }] };
  await keeper.keep(facts, signal);
  assert.is(applied.length, 3);
  await keeper.remove('shop', 'svc-egress-shop-store', signal);
  await keeper.remove('shop', 'svc-egress-shop-store', signal);
  assert.equal(written.slice(3), [`DELETE ${store}`]);
});

test("are nothing where Cilium is not, and leave somebody else's alone", async () => {
  const without = cluster({ cilium: false });
  assert.equal(await without.keeper.keep(facts, signal), []);
  assert.equal(without.written, []);
  const theirs = { metadata: { name: 'svc-egress-shop-store', uid: 'x', resourceVersion: '1' }, spec: {} };
  const shared = cluster({ objects: new Map([[store, theirs]]) });
  await shared.keeper.keep(facts, signal);
  await shared.keeper.remove('shop', 'svc-egress-shop-store', signal);
  assert.is(shared.objects.get(store), theirs);
});

test('are told of where the role of the operator does not allow them', async () => {
  const [warning = ''] = await cluster({ denied: true }).keeper.keep(facts, signal);
  assert.match(warning, /may not keep policies by name/);
});

test.run();
