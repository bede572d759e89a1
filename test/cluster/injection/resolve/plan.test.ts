import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { configNamed, enough, errorsOf, planOf, podWith, resolve } from './support.ts';

const test = suite('what a pod asks for');

test('a pod that says nothing is left alone, and it is said when its namespace is protected', () => {
  assert.equal(resolve(podWith(undefined)), {
    kind: 'skip',
    reason: 'it has no svc/ annotation and no ServiceConfig selects it',
  });
  const labelled = { namespaceLabels: { 'svc/protected': 'true' } };
  assert.equal(resolve(podWith({ 'other/x': 'y', svc: 'z' }), labelled), {
    kind: 'skip',
    reason:
      'it has no svc/ annotation and no ServiceConfig selects it, although namespace team is a protected one',
  });
});

test('svc/inject: "false" wins over everything', () => {
  const pod = podWith({ 'svc/inject': 'false', 'svc/unknown': 'x' }, {}, { hostNetwork: true });
  const given = {
    namespaceLabels: { 'svc/protected': 'true' },
    serviceConfigs: [configNamed('all', { vault: { role: 'a' } })],
  };
  assert.equal(resolve(pod, given), { kind: 'skip', reason: 'it opts out with svc/inject: "false"' });
});

test('the least that is needed, without svc/inject', () => {
  assert.equal(planOf(podWith(enough)), {
    vault: {
      ...{ address: 'https://vault.example:8200', role: 'shop' },
      ...{ authMount: undefined, skipVerify: false },
    },
    secrets: [{ path: 'secret/shop', mappings: [] }],
    ...{ rotation: undefined, renewalInterval: undefined, delivery: undefined, containers: undefined },
    ...{ command: undefined, proxy: undefined, serviceConfig: undefined },
  });
});

test('everything at once', () => {
  const pod = podWith({
    ...{ 'svc/inject': 'true', 'svc/vault-address': 'http://127.0.0.1:8200', 'svc/vault-role': 'shop' },
    ...{ 'svc/vault-auth-mount': '/auth/k8s/', 'svc/secret-paths': 'secret/a, /secret/data/b/' },
    ...{ 'svc/env-map': ';user=DB_USER,user=LOGIN', 'svc/rotation': 'sighup', 'svc/renewal-interval': '1h' },
    ...{ 'svc/delivery': 'fd', 'svc/containers': 'shop, side,shop', 'svc/command': '["/bin/app","a,b",""]' },
    ...{ 'svc/s3-proxy': 'true', 'svc/proxy-role': 'proxy', 'svc/proxy-upstream': 'https://s3.example' },
    ...{ 'svc/proxy-transit-key': 'shop', 'svc/proxy-format': '2' },
  });
  assert.equal(planOf(pod), {
    vault: {
      ...{ address: 'http://127.0.0.1:8200', role: 'shop' },
      ...{ authMount: 'auth/k8s', skipVerify: false },
    },
    secrets: [
      { path: 'secret/a', mappings: [] },
      {
        path: 'secret/data/b',
        mappings: [
          { field: 'user', variable: 'DB_USER' },
          { field: 'user', variable: 'LOGIN' },
        ],
      },
    ],
    ...{ rotation: 'sighup', renewalInterval: '1h', delivery: 'fd', containers: ['shop', 'side'] },
    command: ['/bin/app', 'a,b', ''],
    proxy: { enabled: true, role: 'proxy', upstream: 'https://s3.example', transitKey: 'shop', format: 2 },
    serviceConfig: undefined,
  });
});

test('pods that cannot be protected are refused with the reason', () => {
  const refused = [
    [{ os: { name: 'windows' } }, /^spec\.os: is windows/],
    [{ nodeSelector: { 'kubernetes.io/os': 'windows' } }, /^spec\.os: is windows/],
    [{ nodeSelector: { 'beta.kubernetes.io/os': 'windows' } }, /^spec\.os: is windows/],
    [{ hostNetwork: true }, /^spec\.hostNetwork: is true/],
  ] as const;
  for (const [spec, reason] of refused) {
    const errors = errorsOf(podWith(enough, {}, spec));
    assert.is(errors.length, 1);
    assert.match(String(errors), reason);
    assert.match(String(errors), 'set svc/inject: "false"');
  }
  const mirror = podWith({ ...enough, 'kubernetes.io/config.mirror': 'x' });
  assert.match(String(errorsOf(mirror)), /^metadata\.annotations: belong to a static pod/);
  assert.is(resolve(podWith(enough, {}, { os: { name: 'linux' }, hostNetwork: false })).kind, 'inject');
});

test('of several ServiceConfigs the oldest counts, then the first by name, and only of those that select', () => {
  const vault = { address: 'https://v.example', role: 'r' };
  const spec = { vault, secretPaths: ['secret/a'] };
  const web = { ...spec, selector: { matchLabels: { app: 'web' } } };
  const serviceConfigs = [
    configNamed('young', spec, '2026-03-01T00:00:00Z'),
    configNamed('b-old', spec, '2026-02-01T00:00:00Z'),
    configNamed('a-old', spec, '2026-02-01T00:00:00Z'),
    configNamed('oldest-for-web', web, '2026-01-01T00:00:00Z'),
  ];
  assert.is(planOf(podWith(undefined), { serviceConfigs }).serviceConfig, 'a-old');
  assert.is(planOf(podWith({}, { app: 'web' }), { serviceConfigs }).serviceConfig, 'oldest-for-web');
});

test('certificates are verified unless the operator develops', () => {
  const vault = { address: 'https://v.example', role: 'r', skipVerify: true };
  const serviceConfigs = [configNamed('shop', { vault, secretPaths: ['secret/a'] })];
  assert.equal(errorsOf(podWith({}), { serviceConfigs }), [
    'ServiceConfig shop, vault.skipVerify: should be false, because the operator does not run in development mode',
  ]);
  assert.is(planOf(podWith({}), { serviceConfigs, defaults: { development: true } }).vault.skipVerify, true);
});

test('named fields only, where the operator says so: a pod may say it too, and not undo it', () => {
  const named = { ...enough, 'svc/env-map': 'password=DB_PASSWORD' };
  const everywhere = { defaults: { envMapOnly: true } };
  assert.is(planOf(podWith(named)).envMapOnly, undefined);
  assert.is(planOf(podWith(named), everywhere).envMapOnly, true);
  assert.is(planOf(podWith({ ...named, 'svc/env-map-only': 'true' }), everywhere).envMapOnly, true);
  assert.equal(errorsOf(podWith(enough), everywhere), [
    'SVC_OPERATOR_ENV_MAP_ONLY: would deliver nothing, because no field is named; set svc/env-map',
  ]);
  const undone =
    'should be true or unset, because operator.envMapOnly holds for all pods; name every field in svc/env-map';
  assert.equal(errorsOf(podWith({ ...named, 'svc/env-map-only': 'false' }), everywhere), [
    `svc/env-map-only: ${undone}`,
  ]);
  const serviceConfigs = [configNamed('shop', { envMapOnly: false })];
  assert.equal(errorsOf(podWith(named), { ...everywhere, serviceConfigs }), [
    `ServiceConfig shop, envMapOnly: ${undone}`,
  ]);
});

test('a ServiceConfig that is wrong is told apart from annotations, item by item', () => {
  const serviceConfigs = [
    configNamed('shop', {
      vault: { address: 'http://v.example', role: 'a b' },
      secretPaths: ['secret/a', 'secret/b,secret/c', ' secret/d'],
      envMap: [{ path: 'secret/x', variables: { 'a,b': 'A', c: '1C' } }],
      renewalInterval: 'often',
      containers: ['Shop'],
      proxy: { enabled: true, credentialsSecret: 'No' },
    }),
  ];
  const path = 'should be a KV path such as secret/app, without commas and without blanks at its ends';
  assert.equal(errorsOf(podWith({}), { serviceConfigs }), [
    'ServiceConfig shop, vault.role: should be a role name, is "a b"',
    `ServiceConfig shop, secretPaths[1]: ${path}, is "secret/b,secret/c"`,
    `ServiceConfig shop, secretPaths[2]: ${path}, is " secret/d"`,
    'ServiceConfig shop, envMap[0].variables: should be a field without , and ; and without blanks at its ends, is "a,b"',
    'ServiceConfig shop, envMap[0].variables.c: should be the name of a variable of letters, digits, _, - and ., is "1C"',
    'ServiceConfig shop, renewalInterval: should be a duration such as 30s, 5m or 1h30m, from 1s, is "often"',
    'ServiceConfig shop, containers[0]: should be the name of a container, is "Shop"',
    'ServiceConfig shop, proxy.credentialsSecret: should be the name of a Secret, is "No"',
    'ServiceConfig shop, vault.address: must be https:// (http:// is accepted for loopback addresses only)',
  ]);
});

test('what an annotation hides of a ServiceConfig is not judged', () => {
  const serviceConfigs = [configNamed('shop', { vault: { address: 'nowhere' }, rotation: 'none' })];
  assert.is(planOf(podWith(enough), { serviceConfigs }).vault.address, 'https://vault.example:8200');
});

test.run();
