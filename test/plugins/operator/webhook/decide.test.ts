import { Readable } from 'node:stream';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ImageCommand, InjectionDefaults } from '../../../../src/cluster/injection/contract.ts';
import { type KubeClient, KubeError } from '../../../../src/cluster/kube/client.ts';
import type { Pod } from '../../../../src/cluster/kube/pod.ts';
import { createCurrentConfigs } from '../../../../src/plugins/operator/webhook/configs.ts';
import { type DecideDeps, type Decision, decide } from '../../../../src/plugins/operator/webhook/decide.ts';
import type { AdmissionRequest } from '../../../../src/plugins/operator/webhook/review.ts';
import { type KnownObjects, knownTo } from './support/cluster-of.ts';
import { injected } from './support/injected.ts';

const test = suite('decisions of the webhook');

const defaults: InjectionDefaults = {
  vaultAddress: 'https://vault.example:8200',
  ...{ wrapperImage: 'wrapper:1', proxyImage: 'proxy:1', wrapperDelivery: 'copy', seccompDefault: true },
  ...{ caConfigMap: undefined, agentSocket: undefined, development: false },
};
const annotations = { 'svc/inject': 'true', 'svc/vault-role': 'app', 'svc/secret-paths': 'secret/app' };
const containers = [{ name: 'app', image: 'app:1', command: ['/app'] }];
const annotated: Pod = { metadata: { name: 'app', annotations }, spec: { containers } };
const plain: Pod = { metadata: { name: 'app' }, spec: { containers } };
const config = { selector: {}, vault: { role: 'app' }, secretPaths: ['secret/app'] };

const protectedTeam = { namespaces: { team: { 'svc/protected': 'true' } } };
const listPath = '/apis/svc.io/v1alpha1/namespaces/team/serviceconfigs';
const listed = (items: readonly object[]) => ({ api: { [listPath]: { items } } });

interface World extends KnownObjects {
  /** Answers of the API server by path. */
  readonly api?: Readonly<Record<string, unknown>>;
  readonly foreignAuthorities?: boolean;
  /** The cluster is not listed until then. */
  readonly listed?: Promise<void>;
  readonly lookUp?: (images: readonly string[]) => Promise<ReadonlyMap<string, ImageCommand>>;
}

function viewOf(world: World) {
  const known = knownTo({ namespaces: { team: {} }, ...world });
  const { listed: synced } = world;
  if (synced === undefined) return known;
  return { ...known, cluster: { ...known.cluster, synced: false, whenSynced: () => synced } };
}

function decideOn(
  pod: Pod,
  world: World = {},
  request: Partial<AdmissionRequest> = {},
  timeoutMs = 1_000,
): Promise<Decision> {
  const client = {
    request: async ({ path }: { path: string }) => {
      if (world.api?.[path] !== undefined) return world.api[path];
      throw new KubeError('KUBE_UNAVAILABLE', `GET ${path}: away`);
    },
    read: async ({ path }: { path: string }, use: (body: AsyncIterable<Buffer>) => Promise<unknown>) => {
      const list = world.api?.[path] as { items: { metadata: object }[] } | undefined;
      if (list === undefined) throw new KubeError('KUBE_UNAVAILABLE', `GET ${path}: away`);
      const items = list.items.map((item) => ({
        ...item,
        metadata: { uid: 'u', resourceVersion: '1', ...item.metadata },
      }));
      return use(Readable.from([Buffer.from(JSON.stringify({ metadata: { resourceVersion: '1' }, items }))]));
    },
  } as unknown as KubeClient;
  const deps = {
    ...{ client, current: createCurrentConfigs(client) },
    ...viewOf(world),
    images: {
      commandsOf: async (_pod: Pod, _namespace: string, images: readonly string[]) =>
        (images.length > 0 ? await world.lookUp?.(images) : undefined) ?? new Map(),
    },
    ...{ defaults, namespace: 'svc-system', nativeSidecars: () => true },
    hasForeignAuthorities: () => world.foreignAuthorities ?? false,
  } as unknown as DecideDeps;
  const whole = {
    uid: 'u',
    operation: 'CREATE',
    namespace: 'team',
    name: 'app',
    dryRun: false,
    user: 'somebody',
  };
  const limits = { timeoutMs, signal: new AbortController().signal, reserve: async () => true };
  return decide({ ...whole, pod, ...request }, deps, limits);
}

test('nothing is decided before the cluster is listed', async () => {
  const first = Promise.withResolvers<void>();
  const decision = decideOn(annotated, { listed: first.promise });
  assert.is(
    await Promise.race([decision, new Promise((resolve) => setImmediate(resolve, 'waits'))]),
    'waits',
  );
  first.resolve();
  assert.is((await decision).kind, 'inject');
  const late = await decideOn(annotated, { listed: new Promise(() => {}) }, {}, 1);
  assert.match(JSON.stringify(late), /"code":500.*has not listed the cluster yet/);
});

test('an annotated pod is injected', async () => {
  const pod = injected(annotated, await decideOn(annotated));
  assert.equal(pod.spec.containers[0]?.command, ['/svc/svc-wrapper']);
  assert.is(pod.metadata.labels?.['svc/protected'], 'true');
});

test('where its authorities would be those of somebody else, it is refused', async () => {
  const decision = await decideOn(annotated, { foreignAuthorities: true });
  assert.match(JSON.stringify(decision), /ConfigMap svc-ca of namespace team: has another owner/);
});

test('one that was injected before needs nothing', async () => {
  const pod = injected(annotated, await decideOn(annotated));
  assert.is((await decideOn(pod)).kind, 'skip');
});

test('one that asks for nothing is let through', async () => {
  assert.is((await decideOn(plain, listed([]))).kind, 'skip');
});

for (const namespace of ['kube-system', 'svc-system']) {
  test(`pods of ${namespace} are never changed, whatever they ask for`, async () => {
    assert.is((await decideOn(annotated, {}, { namespace })).kind, 'skip');
  });
}

test('what is not created is not looked at', async () => {
  assert.is((await decideOn(annotated, {}, { operation: 'UPDATE' })).kind, 'skip');
});

test('an annotation in other letters asks as well, and is refused', async () => {
  const metadata = { annotations: { 'SVC/Inject': 'true' } };
  const decision = await decideOn({ ...plain, metadata });
  assert.match(
    JSON.stringify(decision),
    /SVC\/Inject: is not an annotation of svc \(did you mean svc\/inject\?\)/,
  );
});

test('an error refuses the pod by name', async () => {
  const metadata = { annotations: { ...annotations, 'svc/vault-rolle': 'app' } };
  const decision = await decideOn({ ...annotated, metadata });
  assert.is(decision.kind === 'deny' && decision.code, 403);
  assert.match(JSON.stringify(decision), /svc\/vault-rolle.*svc\/vault-role/);
});

test('a ServiceConfig of the namespace injects what it selects', async () => {
  const decision = await decideOn(plain, { serviceConfigs: { 'team/shop': config } });
  assert.is(decision.kind === 'inject' && decision.serviceConfig, 'shop');
});

test('one of another namespace does not', async () => {
  const world = { serviceConfigs: { 'other/shop': config }, ...listed([]) };
  assert.is((await decideOn(plain, world)).kind, 'skip');
});

test('in a protected namespace, a ServiceConfig that was not told yet counts', async () => {
  const item = { metadata: { name: 'shop', creationTimestamp: '2026-01-01T00:00:00Z' }, spec: config };
  const decision = await decideOn(plain, { ...protectedTeam, ...listed([item]) });
  assert.is(decision.kind === 'inject' && decision.serviceConfig, 'shop');
});

test('a namespace whose label was not told yet is taken for a protected one, as the API server does', async () => {
  const item = { metadata: { name: 'shop', creationTimestamp: '2026-01-01T00:00:00Z' }, spec: config };
  const decision = await decideOn(plain, { namespaces: { team: {} }, ...listed([item]) });
  assert.is(decision.kind === 'inject' && decision.serviceConfig, 'shop');
  assert.is((await decideOn(plain, { namespaces: { team: {} } })).kind, 'deny');
});

test('a SecretMapping that was made together with the pod counts, whoever names it', async () => {
  const path = '/apis/svc.io/v1alpha1/namespaces/team';
  const created = { creationTimestamp: '2026-01-01T00:00:00Z' };
  const mapping = { metadata: { name: 'db', ...created }, spec: { secrets: [{ path: 'secret/db' }] } };
  const metadata = { annotations: { 'svc/vault-role': 'app', 'svc/secret-mapping': 'db' } };
  const api = (items: readonly object[]) => ({
    [`${path}/serviceconfigs`]: { items: [] },
    [`${path}/secretmappings`]: { items },
  });
  assert.is((await decideOn({ ...annotated, metadata }, { api: api([mapping]) })).kind, 'inject');
  assert.match(
    JSON.stringify(await decideOn({ ...annotated, metadata }, { api: api([]) })),
    /no SecretMapping/,
  );
});

test('a pod that is too large is refused only if it asks for protection, or nobody can tell', async () => {
  const excess = { error: 'the pod: should have less', hidesLabels: false };
  const unknown = { excess: { ...excess, hidesLabels: true } };
  const bare: Pod = { metadata: { labels: { app: 'other' } }, spec: { containers: [] } };
  const config = { selector: { matchLabels: { app: 'shop' } } };
  const world = { ...protectedTeam, ...listed([]) };
  const configured = { ...protectedTeam, ...listed([{ metadata: { name: 'shop' }, spec: config }]) };
  assert.is((await decideOn(bare, configured, { excess })).kind, 'skip');
  assert.is((await decideOn(bare, world, unknown)).kind, 'skip');
  const optedOut = { ...bare, metadata: { annotations: { 'svc/inject': 'false' } } };
  assert.is((await decideOn(optedOut, configured, unknown)).kind, 'skip');
  const refused = { kind: 'deny', code: 403, errors: [excess.error] };
  assert.equal(await decideOn(bare, configured, unknown), refused);
  assert.equal(await decideOn({ ...bare, metadata: annotated.metadata }, world, { excess }), refused);
  const selected = { ...bare, metadata: { labels: { app: 'shop' } } };
  assert.equal(await decideOn(selected, configured, { excess }), refused);
});

test('so does a ServiceConfig that an annotated pod needs', async () => {
  const path = '/apis/svc.io/v1alpha1/namespaces/team';
  const item = { metadata: { name: 'shop', creationTimestamp: '2026-01-01T00:00:00Z' }, spec: config };
  const api = { [`${path}/serviceconfigs`]: { items: [item] }, [`${path}/secretmappings`]: { items: [] } };
  const metadata = { ...plain.metadata, annotations: { 'svc/rotation': 'none' } };
  assert.is((await decideOn({ ...plain, metadata }, { api })).kind, 'inject');
  assert.is((await decideOn({ ...plain, metadata })).kind, 'deny');
});

test('where there is really none, the pod is let through', async () => {
  assert.is((await decideOn(plain, { ...protectedTeam, ...listed([]) })).kind, 'skip');
});

test('where that cannot be found out, it is refused', async () => {
  const decision = await decideOn(plain, protectedTeam);
  assert.is(decision.kind === 'deny' && decision.code, 500);
});

test('a namespace that has just been made is asked for', async () => {
  const api = { '/api/v1/namespaces/new': { metadata: { labels: {} } } };
  assert.is((await decideOn(annotated, { namespaces: {}, api }, { namespace: 'new' })).kind, 'inject');
  assert.is((await decideOn(annotated, { namespaces: {} }, { namespace: 'new' })).kind, 'deny');
});

const away = () => Promise.reject(new Error('the registry is away'));

test('an image whose command is needed and cannot be looked up refuses the pod, with the reason', async () => {
  const silent = { ...annotated, spec: { containers: [{ name: 'app', image: 'app:1' }] } };
  const decision = await decideOn(silent, { lookUp: away });
  assert.equal(decision, {
    ...{ kind: 'deny', code: 500 },
    errors: ['svc could not decide: the registry is away'],
  });
});

const requireMlock = (decision: Decision) =>
  injected(annotated, decision).spec.containers[0]?.env?.find(({ name }) => name === 'SVC_REQUIRE_MLOCK')
    ?.value;

test('an image is asked for its user, without whom the pod is refused rather than left unlocked', async () => {
  const asRoot = async () => new Map([['app:1', { entrypoint: [], cmd: [], user: '' }]]);
  assert.is(requireMlock(await decideOn(annotated, { lookUp: asRoot })), undefined);
  assert.is((await decideOn(annotated, { lookUp: away })).kind, 'deny');
});

test.run();
