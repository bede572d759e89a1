import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { failureOf, type KubeClient } from '../../../../../src/cluster/kube/client.ts';
import { added, changed, fixtureOf, without } from '../../cluster/fixture-of.ts';
import { levels, verdictOf } from '../../cluster/verdict-of.ts';
import type { Fixture } from '../../fixture.ts';

const test = suite('ConfigMaps with authorities');
const id = 'SVC-OPERATOR-021';

type Change = ReturnType<typeof changed>;

async function found(...changes: readonly Change[]): Promise<readonly string[]> {
  const result = await verdictOf(id, fixtureOf(...changes));
  if (result.state !== 'failed') return [result.state];
  return result.failures.map(({ subject, message }) => `${subject}: ${message}`);
}

const withData = (name: string, data: object | undefined) =>
  changed('ConfigMap', name, ({ data: _, ...rest }) => ({ ...rest, ...data }));

const namedBy = (storeCA: string) =>
  changed('ServiceConfig', 'web', ({ spec, ...config }) => ({
    ...config,
    spec: { ...spec, proxy: { enabled: true, upstream: 'https://s3.example', storeCA } },
  }));

const another = (name: string, namespace: string) =>
  added({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { 'ca.crt': 'PEM' } },
  });

test('that a pod mounts are in its namespace', async () => {
  assert.equal(await found(), ['passed']);
  const missing = 'There is no such ConfigMap: the pod shop/web wants it.';
  assert.equal(await found(without('ConfigMap', 'store-ca')), [`shop/store-ca: ${missing}`]);
  assert.equal(await found(without('ConfigMap', 'svc-ca')), [`shop/svc-ca: ${missing}`]);
  assert.equal(await found(without('ConfigMap', 'store-ca'), another('store-ca', 'default')), [
    `shop/store-ca: ${missing}`,
  ]);
});

test('have the key that is mounted, as text or as bytes', async () => {
  const missing = 'shop/store-ca: It has no key ca.crt: the pod shop/web wants it.';
  assert.equal(await found(withData('store-ca', { data: { 'root.crt': 'PEM' } })), [missing]);
  assert.equal(await found(withData('store-ca', undefined)), [missing]);
  assert.equal(await found(withData('store-ca', { binaryData: { 'ca.crt': 'UEVN' } })), ['passed']);
});

test('that a ServiceConfig names are a warning before a pod mounts them', async () => {
  const by = 'the ServiceConfig shop/web wants it.';
  assert.equal(await found(namedBy('other')), [`shop/other: There is no such ConfigMap: ${by}`]);
  assert.equal(await levels(id, fixtureOf(namedBy('other'))), ['warning']);
  assert.equal(await found(namedBy('store-ca/root.crt')), [`shop/store-ca: It has no key root.crt: ${by}`]);
  assert.equal(await found(namedBy('')), ['passed']);
  const both = [namedBy('store-ca'), without('ConfigMap', 'store-ca')];
  const shown = 'There is no such ConfigMap: the pod shop/web and 1 more want it.';
  assert.equal(await found(...both), [`shop/store-ca: ${shown}`]);
  assert.equal(await levels(id, fixtureOf(...both)), ['error']);
});

test('are asked for by name, once each', async () => {
  const { fixture, selectors } = recording();
  assert.is((await verdictOf(id, fixture)).state, 'passed');
  assert.equal(selectors.sort(), ['metadata.name=store-ca', 'metadata.name=svc-ca']);
});

/** A healthy cluster, with the field selectors by which it is asked for ConfigMaps. */
function recording() {
  const selectors: unknown[] = [];
  const cluster = async (): Promise<KubeClient> => {
    const client = (await fixtureOf()().cluster?.()) as KubeClient;
    return {
      ...client,
      read(request, use) {
        if (request.path === '/api/v1/configmaps') selectors.push(request.query?.['fieldSelector']);
        return client.read(request, use);
      },
    };
  };
  return { selectors, fixture: (): Fixture => ({ ...fixtureOf()(), cluster }) };
}

test('that may not be read are not taken for missing', async () => {
  const message =
    'configmaps is forbidden: User "x" cannot list resource "configmaps" in API group "" at the cluster scope';
  const cluster = (await fixtureOf()().cluster?.()) as KubeClient;
  const denied: KubeClient = {
    ...cluster,
    read: async (request, use) => {
      if (request.path === '/api/v1/configmaps')
        throw failureOf(`GET ${request.path}`, 403, JSON.stringify({ message }));
      return cluster.read(request, use);
    },
  };
  const result = await verdictOf(id, () => ({ ...fixtureOf()(), cluster: async () => denied }));
  assert.is(result.state === 'not-evaluated' && result.permission, 'list configmaps');
});

test('that nothing names are not looked for', async () => {
  assert.equal(await found(without('Pod', 'web')), ['skipped']);
});

test.run();
