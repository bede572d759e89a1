import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { InjectionDefaults, MutationEnvironment } from '../../../../src/cluster/injection/contract.ts';
import { mutatePod } from '../../../../src/cluster/injection/mutate/mutate-pod.ts';
import { resolveInjection } from '../../../../src/cluster/injection/resolve/resolve-injection.ts';
import type { Container, Pod } from '../../../../src/cluster/kube/pod.ts';
import type { ServiceConfigSpec } from '../../../../src/cluster/resources/resources.ts';
import { newCallerKeys } from '../../../../src/plugins/operator/webhook/decide.ts';
import { defaults } from './pods/case.ts';

const test = suite('what pods may ask for beside the usual');

const surroundings: MutationEnvironment = {
  ...{ podSecurity: 'baseline', nativeSidecars: true, images: new Map(), newCallerKeys },
};
const base = {
  'svc/vault-address': 'https://vault.example',
  'svc/vault-role': 'app',
  'svc/secret-paths': 'secret/app',
};
const proxied = { ...base, 'svc/s3-proxy': 'true', 'svc/proxy-upstream': 'https://s3.example' };
const keyed = { ...proxied, 'svc/proxy-caller-keys': 'true' };

function podWith(annotations: Record<string, string>, members: Partial<Container> = {}): Pod {
  const mounted = { name: 'kube-api-access', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' };
  const containers = [
    { name: 'app', image: 'app:1', command: ['/app'], volumeMounts: [mounted], ...members },
  ];
  return { metadata: { annotations }, spec: { containers } };
}

function resolved(pod: Pod, configs: readonly { name: string; spec: ServiceConfigSpec }[] = []) {
  const serviceConfigs = configs.map((one) => ({ created: '2026-01-01T00:00:00Z', ...one }));
  return resolveInjection(pod, {
    ...{ namespace: 'shop', namespaceLabels: {}, serviceConfigs, secretMappings: new Map(), defaults },
  });
}

type Operator = Partial<InjectionDefaults>;

function mutated(
  pod: Pod,
  operator: Operator = {},
  configs: Parameters<typeof resolved>[1] = [],
): { pod: Pod; warnings: readonly string[] } {
  const resolution = resolved(pod, configs);
  if (resolution.kind !== 'inject') throw new Error(JSON.stringify(resolution));
  const mutation = mutatePod(pod, resolution.plan, { ...defaults, ...operator }, surroundings);
  if (mutation.kind !== 'pod') throw new Error(JSON.stringify(mutation));
  return mutation;
}

const variablesOf = (pod: Pod, name: string) => {
  const all = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  return Object.fromEntries(
    (all.find((one) => one.name === name)?.env ?? []).map((one) => [one.name, one.value]),
  );
};

test('keys for the callers of the proxy are new for each pod, and the same for proxy and application', () => {
  const [one, other] = [mutated(podWith(keyed)).pod, mutated(podWith(keyed)).pod];
  const [proxy, app] = [variablesOf(one, 'svc-proxy'), variablesOf(one, 'app')];
  assert.match(proxy['SVC_PROXY_ACCESS_KEY_ID'] ?? '', /^SVC[A-Z2-7]{17}$/);
  assert.match(proxy['SVC_PROXY_SECRET_ACCESS_KEY'] ?? '', /^[\w-]{40}$/);
  assert.is(app['AWS_ACCESS_KEY_ID'], proxy['SVC_PROXY_ACCESS_KEY_ID']);
  assert.is(app['AWS_SECRET_ACCESS_KEY'], proxy['SVC_PROXY_SECRET_ACCESS_KEY']);
  assert.is(proxy['AWS_ACCESS_KEY_ID'], undefined);
  assert.is.not(
    variablesOf(other, 'svc-proxy')['SVC_PROXY_SECRET_ACCESS_KEY'],
    proxy['SVC_PROXY_SECRET_ACCESS_KEY'],
  );
});

test('asked again, a pod keeps its keys', () => {
  const { pod } = mutated(podWith(keyed));
  assert.equal(mutated(pod).pod, pod);
});

test('an application that names credentials keeps them, and the proxy keeps the identity of its cloud', () => {
  const own = [{ name: 'AWS_ACCESS_KEY_ID', value: 'AKIAOWN' }];
  const { pod, warnings } = mutated(podWith(keyed, { env: own }));
  assert.is(variablesOf(pod, 'app')['AWS_ACCESS_KEY_ID'], 'AKIAOWN');
  assert.is(variablesOf(pod, 'app')['AWS_SECRET_ACCESS_KEY'], undefined);
  assert.match(warnings.join(), /has its own AWS credentials/);
  const role = [
    { name: 'AWS_ROLE_ARN', value: 'arn:aws:iam::1:role/shop' },
    { name: 'AWS_WEB_IDENTITY_TOKEN_FILE', value: '/var/run/aws/token' },
  ];
  const withRole = mutated(podWith(keyed, { env: role })).pod;
  const proxy = variablesOf(withRole, 'svc-proxy');
  assert.is(proxy['AWS_ROLE_ARN'], 'arn:aws:iam::1:role/shop');
  assert.is(proxy['AWS_ACCESS_KEY_ID'], undefined);
  assert.is(variablesOf(withRole, 'app')['AWS_ACCESS_KEY_ID'], proxy['SVC_PROXY_ACCESS_KEY_ID']);
});

test('without the annotation there are no keys, and without the proxy it is an error', () => {
  assert.is(variablesOf(mutated(podWith(proxied)).pod, 'svc-proxy')['SVC_PROXY_ACCESS_KEY_ID'], undefined);
  const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
  for (const annotation of [
    { 'svc/proxy-caller-keys': 'true' },
    { 'svc/proxy-format': '2' },
    { 'svc/proxy-store-ca': 'store' },
    { 'svc/proxy-recovery-recipient': recipient },
  ])
    assert.match(
      JSON.stringify(resolved(podWith({ ...base, ...annotation }))),
      new RegExp(`${Object.keys(annotation)[0]}: has no effect without svc/s3-proxy`),
    );
});

test('only named fields are delivered where the pod says so, and nothing named is an error', () => {
  const only = { ...base, 'svc/env-map-only': 'true' };
  const { pod } = mutated(podWith({ ...only, 'svc/env-map': 'password=DB_PASSWORD' }));
  assert.is(variablesOf(pod, 'app')['SVC_ENV_MAP_ONLY'], 'true');
  assert.match(JSON.stringify(resolved(podWith(only))), /svc\/env-map-only: would deliver nothing/);
});

test('a token with an audience takes the place of the one that opens the API server, for wrapper and proxy', () => {
  const { pod } = mutated(podWith({ ...proxied, 'svc/token-audience': 'https://vault.example' }));
  const volume = pod.spec.volumes?.find(({ name }) => name === 'svc-wrapper-token');
  assert.is(volume?.projected?.sources?.[0]?.serviceAccountToken?.audience, 'https://vault.example');
  for (const name of ['app', 'svc-proxy'])
    assert.is(variablesOf(pod, name)['SVC_SA_TOKEN_PATH'], '/var/run/secrets/svc/token', name);
  assert.equal(mutated(pod).pod, pod);
  const { metadata } = podWith(proxied);
  const back = mutated({ ...pod, metadata: { ...pod.metadata, ...metadata } }).pod;
  const token = back.spec.volumes?.find(({ name }) => name === 'svc-wrapper-token')?.projected?.sources?.[0];
  assert.is(token?.serviceAccountToken?.audience, undefined);
});

const operatorStore: Operator = { storeAuthorities: { configMap: 'svc-ca', key: 'store-ca.crt' } };

/** Where the proxy finds the authorities of its store; undefined: it trusts the public ones. */
function storeAuthorities({ spec }: Pod) {
  const all = [...(spec.initContainers ?? []), ...spec.containers];
  const [proxy] = all.filter(({ name }) => name === 'svc-proxy');
  const bundle = proxy?.env?.find(({ name }) => name === 'AWS_CA_BUNDLE')?.value;
  const mounting = all.filter(({ volumeMounts = [] }) =>
    volumeMounts.some(({ name }) => name === 'svc-store-ca'),
  );
  const volume = spec.volumes?.find(({ name }) => name === 'svc-store-ca')?.configMap;
  if (bundle === undefined) return undefined;
  assert.is(bundle, '/etc/svc/store-ca/ca.crt');
  assert.equal(mounting, [proxy], 'nobody else has it');
  assert.is(volume?.optional, undefined);
  return [volume?.name, ...(volume?.items ?? [])];
}

const asFile = (key: string) => ({ key, path: 'ca.crt' });

test('the proxy trusts the authorities that pod, ServiceConfig or operator name, in this order', () => {
  const named = (value: string) => podWith({ ...proxied, 'svc/proxy-store-ca': value });
  const { vault, secretPaths } = config('', []).spec;
  const inConfig = (storeCA: string) => [
    {
      name: 'store',
      spec: {
        ...{ selector: {}, vault, secretPaths },
        proxy: { enabled: true, upstream: 'https://s3.example', storeCA },
      },
    },
  ];
  const operatorsOwn = ['svc-ca', asFile('store-ca.crt')];
  const of = (pod: Pod, operator?: Operator, configs?: ReturnType<typeof inConfig>) =>
    storeAuthorities(mutated(pod, operator, configs).pod);
  assert.equal(of(podWith(proxied)), undefined);
  assert.equal(of(podWith(proxied), operatorStore), operatorsOwn);
  assert.equal(of(podWith({}), operatorStore, inConfig('team')), ['team', asFile('ca.crt')]);
  assert.equal(of(podWith({}), operatorStore, inConfig('')), undefined);
  assert.equal(of(named('own/root.pem'), operatorStore, inConfig('team')), ['own', asFile('root.pem')]);
  assert.equal(of(named('own')), ['own', asFile('ca.crt')]);
  assert.equal(of(named(''), operatorStore), undefined);
  const bare = mutated(podWith(base), operatorStore).pod;
  assert.not.ok(
    bare.spec.volumes?.some(({ name }) => name === 'svc-store-ca'),
    'without a proxy',
  );
});

test('asked again, the authorities stay, follow a change, and are never optional', () => {
  const { pod } = mutated(podWith(proxied), operatorStore);
  assert.equal(mutated(pod, operatorStore).pod, pod);
  const annotations = { ...proxied, 'svc/proxy-store-ca': 'own' };
  const changed = mutated({ ...pod, metadata: { ...pod.metadata, annotations } }, operatorStore).pod;
  assert.equal(storeAuthorities(changed), ['own', asFile('ca.crt')]);
  const volumes = (pod.spec.volumes ?? []).map((volume) =>
    volume.configMap ? { ...volume, configMap: { ...volume.configMap, optional: true } } : volume,
  );
  assert.equal(mutated({ ...pod, spec: { ...pod.spec, volumes } }, operatorStore).pod, pod);
  const taken = podWith(proxied);
  const emptyDir = [{ name: 'svc-store-ca', emptyDir: {} }];
  const plan = resolved(taken);
  assert.ok(plan.kind === 'inject');
  const refused = mutatePod(
    { ...taken, spec: { ...taken.spec, volumes: emptyDir } },
    plan.plan,
    { ...defaults, ...operatorStore },
    surroundings,
  );
  assert.match(JSON.stringify(refused), /volume svc-store-ca: the name is reserved/);
});

const config = (name: string, cidrs: readonly string[]) => ({
  name,
  spec: {
    ...{
      selector: {},
      vault: { address: 'https://vault.example', role: 'app' },
      secretPaths: ['secret/app'],
    },
    egress: cidrs.map((cidr) => ({ cidr })),
  },
});

test('blocks that are nearly everything are an error, alone, in halves and together', () => {
  for (const cidr of [
    '0.0.0.0/0',
    '0.0.0.0/1',
    '128.0.0.0/1',
    '::/0',
    '::/1',
    '::ffff:0:0/96',
    '64:ff9b::/97',
  ])
    assert.match(
      JSON.stringify(resolved(podWith({}), [config('wide', [cidr])])),
      /is nearly every address/,
      cidr,
    );
  const eighths = Array.from({ length: 100 }, (_, index) => `${index + 1}.0.0.0/8`);
  const two = [config('a', eighths.slice(0, 50)), config('b', eighths.slice(50))];
  assert.match(
    JSON.stringify(resolved(podWith({}), two)),
    /together cover more than a quarter of all addresses/,
  );
  assert.is(resolved(podWith({}), [config('a', ['10.0.0.0/8', '10.1.0.0/16', 'fd00::/8'])]).kind, 'inject');
});

test.run();
