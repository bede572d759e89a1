import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { patient } from '../../../support/patience.ts';
import type { SmallApiServer, StoredObject } from '../../../support/small-api-server.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { reviewOf } from '../webhook/support/review-of.ts';
import { usualPod } from '../webhook/support/worst-pods.ts';
import { type LimitedOperator, startLimitedOperator } from './limited-operator.ts';

const test = suite('the operator in 128 MiB, beside objects of a million values');
export const timeout = 300_000;

const full = 'api/v1/namespaces/full/pods';
const custom = 'apis/svc.io/v1alpha1/namespaces/full';
/** What fits 1.5 MiB of etcd. */
const args = Array(700_000).fill('');
const more = Object.fromEntries(Array.from({ length: 110_000 }, (_, index) => [`n${index}`, '']));

const podWith = (image: string): Omit<StoredObject, 'metadata'> => ({
  spec: { containers: [{ name: 'app', image, command: ['/app'], args }] },
});

const mapping = { secrets: [{ path: 'secret/a', variables: { a: 'A' } }] };
const config = {
  ...{ selector: { matchLabels: { app: 'usual' } }, vault: { role: 'app' }, secretPaths: ['secret/a'] },
};

/** By collection; each is too large to be built. */
const large: Readonly<Record<string, object>> = {
  'apis/apps/v1/namespaces/full/deployments': { spec: { template: podWith('app:1') } },
  'apis/batch/v1/namespaces/full/jobs': { spec: { template: podWith('app:1') } },
  'apis/networking.k8s.io/v1/namespaces/full/networkpolicies': {
    spec: { podSelector: {}, policyTypes: ['Egress'], egress: Array(210_000).fill({}) },
  },
  [`${custom}/serviceconfigs`]: { metadata: { labels: more }, spec: config },
  [`${custom}/secretmappings`]: { metadata: { labels: more }, spec: mapping },
};

function put(api: SmallApiServer, collection: string, name: string, object: object = {}): void {
  const { metadata } = object as Partial<StoredObject>;
  api.put(`/${collection}`, { ...object, metadata: { ...metadata, name } });
}

let limited: LimitedOperator;
test.before(async () => {
  limited = await startLimitedOperator({
    prepare(api) {
      put(api, 'api/v1/namespaces', 'full', { metadata: { labels: { ...more, 'svc/protected': 'true' } } });
      for (let number = 0; number < 20; number++) put(api, full, `large-${number}`, podWith('app:1'));
      for (const [collection, object] of Object.entries(large)) put(api, collection, 'large', object);
      // behind them in each list
      put(api, `${custom}/secretmappings`, 'usual', { spec: mapping });
    },
  });
});
test.after(() => limited?.stop());

/** Names of the marked objects, by resource. */
function marked(): Readonly<Record<string, readonly unknown[]>> {
  const events = limited.operator.events('cluster.object.too_large');
  const byResource = Map.groupBy(events, ({ resource }) => String(resource));
  return Object.fromEntries(
    [...byResource].map(([resource, all]) => [resource, [...new Set(all.map(({ name }) => name))]]),
  );
}

interface Admission {
  readonly allowed: boolean;
  readonly status?: { readonly message: string };
}

async function reviewed(pod: object): Promise<Admission> {
  const { status, text } = await limited.review(JSON.stringify(reviewOf(pod, { namespace: 'full' })));
  assert.is(status, 200, text);
  return (JSON.parse(text) as { readonly response: Admission }).response;
}

const asks = (mapping: string) => ({
  ...usualPod,
  metadata: {
    name: 'asks',
    annotations: { 'svc/inject': 'true', 'svc/vault-role': 'app', 'svc/secret-mapping': mapping },
  },
});

test('starts beside them, and its lists go on behind them', async () => {
  // policies are listed last, after it is ready
  await waitFor('every list', () => Object.keys(marked()).length === 7);
  assert.equal(limited.operator.events('kube.watch.failed'), []);
  assert.is(limited.killed(), 0);
  const { pods = [], ...others } = marked();
  assert.is(pods.length, 20);
  const resources = ['deployments', 'jobs', 'networkpolicies', 'secretmappings', 'serviceconfigs'];
  assert.equal(others, {
    namespaces: ['full'],
    ...Object.fromEntries(resources.map((name) => [name, ['large']])),
  });
  assert.is((await reviewed(asks('usual'))).allowed, true);
});

test('refuses the pods that a ServiceConfig of theirs selects, or that name such a SecretMapping', async () => {
  for (const [pod, what] of [
    [usualPod, /ServiceConfig large: is too large for the operator to keep/],
    [asks('large'), /SecretMapping large\): is too large for the operator to keep/],
  ] as const) {
    const { allowed, status } = await reviewed(pod);
    assert.is(allowed, false);
    assert.match(status?.message ?? '', what);
  }
});

test('follows the others while they change, and answers meanwhile', async () => {
  let slowest = 0;
  for (let round = 0; round < 20; round++) {
    put(limited.api, full, `large-${round}`, podWith(`app:${round + 2}`));
    const began = performance.now();
    assert.is((await reviewed(asks('usual'))).allowed, true);
    slowest = Math.max(slowest, performance.now() - began);
  }
  assert.ok(slowest < patient(5_000), `${slowest} ms`);
  put(limited.api, `${custom}/secretmappings`, 'later', { spec: mapping });
  await waitFor('the new object', async () => (await reviewed(asks('later'))).allowed);
  assert.equal(limited.operator.events('kube.watch.failed'), []);
  assert.is(limited.killed(), 0);
});

test('protects by a ServiceConfig as soon as it is no longer too large', async () => {
  put(limited.api, `${custom}/serviceconfigs`, 'large', { spec: config });
  await waitFor('the new object', async () => (await reviewed(usualPod)).allowed);
});

test.run();
