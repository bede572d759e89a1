import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { annotations } from '../../../../src/cluster/injection/resolve/annotations.ts';
import { enough, errorsOf, podWith } from './support.ts';

const test = suite('wrong annotations');

const url = (example: string) =>
  `should be an http:// or https:// URL such as ${example}, without credentials, query or fragment`;
const vaultUrl = url('https://vault.example:8200');
const path = 'should be a list, separated by commas, each item a KV path such as secret/app';
const groups =
  'should be groups separated by ; (one per secret path) of <field>=<ENV_VAR> items separated by commas';
const duration = 'should be a duration such as 30s, 5m or 1h30m, from 1s';
const command = 'should be a JSON array of texts such as ["/bin/app", "--port=80"], the first not empty';
const container = 'should be a list, separated by commas, each item the name of a container';
const mapping = 'should be a list, separated by commas, each item the name of a SecretMapping';
const recipients = 'should be up to 8 public keys, age1… or 32 bytes in base64, separated by commas';
const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
const configMap = 'should be the name of a ConfigMap, or <name>/<key>, or empty';
const mount = 'should be a path below auth/, such as auth/kubernetes';

const all =
  'svc/inject, svc/vault-address, svc/vault-role, svc/vault-auth-mount, svc/token-audience, svc/secret-paths, svc/env-map, ' +
  'svc/env-map-only, svc/secret-mapping, svc/rotation, svc/renewal-interval, svc/delivery, svc/containers, svc/command, ' +
  'svc/s3-proxy, svc/proxy-role, svc/proxy-upstream, svc/proxy-transit-key, svc/proxy-format, ' +
  'svc/proxy-recovery-recipient, svc/proxy-store-ca, svc/proxy-caller-keys';

/** One annotation beside those that suffice: its value, and what is said about it after its name. */
const wrong: readonly (readonly [string, string, string])[] = [
  ['svc/inject', 'yes', 'should be true or false, is "yes"'],
  ['svc/inject', 'True', 'should be true or false, is "True"'],
  ['svc/inject', '', 'should be true or false, is ""'],
  ['svc/vault-address', 'vault:8200', `${vaultUrl}, is "vault:8200"`],
  ['svc/vault-address', '', `${vaultUrl}, is ""`],
  ['svc/vault-address', 'https://a:b@vault', `${vaultUrl}, is "https://***@vault"`],
  ['svc/vault-address', 'https://vault?x=1', `${vaultUrl}, is "https://vault?x=1"`],
  [
    'svc/vault-address',
    'http://vault:8200',
    'must be https:// (http:// is accepted for loopback addresses only)',
  ],
  ['svc/vault-role', 'a b', 'should be a role name, is "a b"'],
  ['svc/vault-role', '../x', 'should be a role name, is "../x"'],
  [
    'svc/token-audience',
    'a b',
    'should be an audience such as https://vault.example, without blanks, is "a b"',
  ],
  ['svc/env-map-only', 'yes', 'should be true or false, is "yes"'],
  ['svc/proxy-caller-keys', 'yes', 'should be true or false, is "yes"'],
  ['svc/proxy-format', '3', 'should be 1 or 2, is "3"'],
  ['svc/proxy-format', '', 'should be 1 or 2, is ""'],
  ['svc/proxy-recovery-recipient', '', `${recipients}, is ""`],
  ['svc/proxy-recovery-recipient', 'recovery.key', `${recipients}, is "recovery.key"`],
  [
    'svc/proxy-recovery-recipient',
    recipient.replace('8p', '8q'),
    `${recipients}, is "${recipient.slice(0, 60)}…"`,
  ],
  [
    'svc/proxy-recovery-recipient',
    `${recipient},${recipient}`,
    `${recipients}, is "${recipient.slice(0, 60)}…"`,
  ],
  [
    'svc/proxy-recovery-recipient',
    'AGE-SECRET-KEY-1QQPQYZ',
    `${recipients} (a private key is among them: replace it, and name public keys), is "***"`,
  ],
  ['svc/proxy-store-ca', 'Store', `${configMap}, is "Store"`],
  ['svc/proxy-store-ca', 'store/', `${configMap}, is "store/"`],
  ['svc/proxy-store-ca', '/ca.crt', `${configMap}, is "/ca.crt"`],
  ['svc/proxy-store-ca', 'store/..data', `${configMap}, is "store/..data"`],
  ['svc/proxy-store-ca', 'store/ca.crt/x', `${configMap}, is "store/ca.crt/x"`],
  ['svc/proxy-store-ca', 'store', 'has no effect without svc/s3-proxy: "true"'],
  ['svc/vault-auth-mount', 'kubernetes', `${mount}, is "kubernetes"`],
  ['svc/vault-auth-mount', 'auth/../sys', `${mount}, is "auth/../sys"`],
  ['svc/secret-paths', 'app', `${path}, is "app"`],
  ['svc/secret-paths', 'secret/a,,secret/b', `${path}, is "secret/a,,secret/b"`],
  ['svc/secret-paths', 'secret/../a', `${path}, is "secret/../a"`],
  ['svc/secret-paths', 'secret/a?x', `${path}, is "secret/a?x"`],
  ['svc/secret-paths', 'secret/a,/secret/a/', 'each path should be named once, secret/a is repeated'],
  ['svc/env-map', 'a', `${groups} ("a" in group 1 is not of the form <field>=<ENV_VAR>), is "a"`],
  ['svc/env-map', 'a=A,b=A', `${groups} (A is given to more than one field), is "a=A,b=A"`],
  [
    'svc/env-map',
    'a=1A',
    `${groups} ("a=1A" in group 1 does not name a variable of letters, digits, _, - and .), is "a=1A"`,
  ],
  ['svc/env-map', 'b=B;a=A', 'has 2 groups, should have at most one per path, and svc/secret-paths names 1'],
  ['svc/env-map', ';;a=A', 'has 3 groups, should have at most one per path, and svc/secret-paths names 1'],
  ['svc/secret-mapping', 'A', `${mapping}, is "A"`],
  ['svc/secret-mapping', '', `${mapping}, is ""`],
  ['svc/secret-mapping', 'database', 'namespace team has no SecretMapping database'],
  ['svc/secret-mapping', 'database,database', 'namespace team has no SecretMapping database'],
  ['svc/rotation', 'hup', 'should be one of restart, sighup, none, is "hup"'],
  ['svc/renewal-interval', '5', `${duration}, is "5"`],
  ['svc/renewal-interval', '500ms', `${duration}, is "500ms"`],
  ['svc/delivery', 'file', 'should be one of both, env, fd, is "file"'],
  ['svc/containers', 'Shop', `${container}, is "Shop"`],
  ['svc/containers', 'a'.repeat(64), `${container}, is "${'a'.repeat(60)}…"`],
  ['svc/containers', 'shop,', `${container}, is "shop,"`],
  ['svc/command', '/bin/app', `${command}, is "/bin/app"`],
  ['svc/command', '"x"', `${command}, is "\\"x\\""`],
  ['svc/command', '[]', `${command}, is "[]"`],
  ['svc/command', '["", "a"]', `${command}, is "[\\"\\", \\"a\\"]"`],
  ['svc/command', '["a", 1]', `${command}, is "[\\"a\\", 1]"`],
  ['svc/command', '["a", "\\u0000"]', `${command}, is "[\\"a\\", \\"\\\\u0000\\"]"`],
  ['svc/s3-proxy', 'on', 'should be true or false, is "on"'],
  ['svc/proxy-role', 'proxy', 'has no effect without svc/s3-proxy: "true"'],
  ['svc/proxy-upstream', 'https://s3.example', 'has no effect without svc/s3-proxy: "true"'],
  ['svc/proxy-transit-key', 'svc', 'has no effect without svc/s3-proxy: "true"'],
  ['svc/proxy-role', '', 'should be a role name, is ""'],
  ['svc/proxy-upstream', 's3', `${url('https://s3.example')}, is "s3"`],
  ['svc/proxy-transit-key', 'a/b', 'should be a key name, is "a/b"'],
  ['svc/vault-rol', 'shop', 'is not an annotation of svc (did you mean svc/vault-role?)'],
  ['svc/secretpaths', 'secret/a', 'is not an annotation of svc (did you mean svc/secret-paths?)'],
  ['svc/Inject', 'true', 'is not an annotation of svc (did you mean svc/inject?)'],
  ['svc/role', 'x', `is not an annotation of svc; there are ${all}`],
];

for (const [name, value, message] of wrong)
  test(`${name}: ${JSON.stringify(value)}`, () => {
    assert.equal(errorsOf(podWith({ ...enough, [name]: value })), [`${name}: ${message}`]);
  });

test('the table has every annotation', () => {
  const missing = Object.values(annotations).filter(({ name }) => !wrong.some(([one]) => one === name));
  assert.equal(missing, []);
});

test('all errors are said at once, each led by its annotation', () => {
  const errors = errorsOf(
    podWith({
      ...{ 'svc/inject': 'on', 'svc/rotation': 'x', 'svc/roles': 'shop', 'svc/secret-paths': 'x' },
      ...{ 'svc/delivery': 'x', 'svc/proxy-role': 'p', 'svc/proxy-store-ca': '/' },
    }),
  );
  const leads = errors.map((one) => one.slice(0, one.indexOf(':'))).sort();
  assert.equal(leads, [
    ...[
      'svc/delivery',
      'svc/inject',
      'svc/proxy-role',
      'svc/proxy-store-ca',
      'svc/roles',
      'svc/rotation',
      'svc/secret-paths',
    ],
    ...['svc/vault-address', 'svc/vault-role'],
  ]);
});

test('what is missing is said with all places that could give it', () => {
  assert.equal(errorsOf(podWith({ 'svc/inject': 'true' })), [
    `svc/vault-address: required, ${vaultUrl}; or set vault.address of a ServiceConfig that selects the pod, or operator.vaultAddress for all pods`,
    'svc/vault-role: required, should be a role name; or set vault.role of a ServiceConfig that selects the pod',
    `svc/secret-paths: required, ${path}; or set svc/secret-mapping, or secretPaths of a ServiceConfig that selects the pod`,
  ]);
});

test('an authority for a store without TLS is a mistake', () => {
  const proxied = { ...enough, 'svc/s3-proxy': 'true', 'svc/proxy-upstream': 'http://minio.team.svc:9000' };
  assert.equal(errorsOf(podWith({ ...proxied, 'svc/proxy-store-ca': 'store' })), [
    'svc/proxy-store-ca: has no effect for a store without TLS, and svc/proxy-upstream is http://minio.team.svc:9000',
  ]);
});

test('an empty map of variables is none', () => {
  assert.throws(() => errorsOf(podWith({ ...enough, 'svc/env-map': '' })), /not denied/);
});

test('a list too long for a variable of the wrapper is refused, quickly', () => {
  const items = Array.from({ length: 20_000 }, (_, index) => `f${index}=V${index}`).join(',');
  assert.equal(errorsOf(podWith({ ...enough, 'svc/env-map': items })), [
    'svc/secret-paths: the paths, or the names of their fields, should fit one variable of 128 KiB together',
  ]);
});

test.run();
