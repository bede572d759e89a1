import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type VaultConfig, vaultConfig, vaultRules, vaultSettings } from '../../src/keyserver/settings.ts';
import { SvcError } from '../../src/runtime/errors.ts';
import { applyRules, resolveSettings } from '../../src/runtime/settings/resolve.ts';
import { temporaryFolder } from '../support/temporary.ts';

const vault = suite('settings of the key server');
const folder = temporaryFolder('vault-settings');
const file = join(folder.path, 'file');
writeFileSync(file, 'x');
chmodSync(file, 0o600);
const absent = join(folder.path, 'absent');
const address = { VAULT_ADDR: 'https://vault.example.eu:8200' };
const kubernetes = { ...address, VAULT_AUTH_ROLE: 'app', SVC_SA_TOKEN_PATH: file };
const token = { ...address, VAULT_TOKEN: 's.token' };

vault.after(() => folder.remove());

vault('kubernetes auth with its defaults', () => {
  const config = read(kubernetes);
  assert.equal(config.auth, {
    method: 'kubernetes',
    role: 'app',
    mountPath: 'auth/kubernetes',
    serviceAccountTokenPath: file,
  });
  assert.is(config.endpoint.url.href, 'https://vault.example.eu:8200/');
  assert.is(config.endpoint.skipVerify, false);
  assert.is(config.endpoint.client, undefined);
  assert.is(config.namespace, undefined);
});

vault('a token or a token file means token auth, and the file wins', () => {
  assert.equal(read(token).auth, { method: 'token', token: 's.token' });
  assert.equal(read({ ...address, VAULT_TOKEN: ' s.token\n' }).auth, { method: 'token', token: 's.token' });
  assert.equal(read({ ...token, VAULT_TOKEN_FILE: file }).auth, { method: 'token-file', path: file });
  assert.is(read({ ...token, ...kubernetes, VAULT_AUTH_METHOD: 'kubernetes' }).auth.method, 'kubernetes');
});

vault('asks for what the auth method needs', () => {
  assert.match(errorsOf({ ...address, SVC_SA_TOKEN_PATH: file })[0], /^VAULT_AUTH_ROLE: required/);
  assert.match(
    errorsOf({ ...kubernetes, VAULT_AUTH_METHOD: 'token' })[0],
    /^VAULT_TOKEN or VAULT_TOKEN_FILE: required/,
  );
});

vault('names every error of an empty and of a wrong configuration', () => {
  assert.is(errorsOf({}).length, 3);
  const wrong = errorsOf({
    VAULT_ADDR: 'vault:8200',
    VAULT_TOKEN: 'two words',
    VAULT_AUTH_METHOD: 'approle',
    VAULT_AUTH_MOUNT_PATH: 'kubernetes',
    VAULT_SKIP_VERIFY: '1',
    SVC_BROKER_TLS_CERT: absent,
  });
  const variables = wrong.map((line) => line.split(':')[0]);
  assert.equal(variables, [
    'VAULT_ADDR',
    'VAULT_TOKEN',
    'VAULT_AUTH_METHOD',
    'VAULT_AUTH_MOUNT_PATH',
    'VAULT_SKIP_VERIFY',
    'SVC_BROKER_TLS_KEY',
    'SVC_BROKER_TLS_CERT',
  ]);
  assert.not.match(wrong.join('\n'), 'two words');
});

vault('http is for loopback addresses only', () => {
  for (const host of ['127.0.0.1:8200', 'localhost:8200', '[::1]:8200']) {
    assert.is(read({ ...token, VAULT_ADDR: `http://${host}` }).endpoint.url.host, host);
  }
  assert.match(errorsOf({ ...token, VAULT_ADDR: 'http://vault:8200' })[0], /^VAULT_ADDR: must be https/);
  assert.match(
    errorsOf({ ...token, SVC_BROKER_ADDR: 'http://broker:1' })[0],
    /^SVC_BROKER_ADDR: must be https/,
  );
});

vault('certificate and key come together', () => {
  assert.match(errorsOf({ ...token, SVC_BROKER_TLS_CERT: file })[0], /^SVC_BROKER_TLS_KEY: required/);
  assert.match(errorsOf({ ...token, SVC_BROKER_TLS_KEY: file })[0], /^SVC_BROKER_TLS_CERT: required/);
  const { endpoint } = read({ ...token, SVC_BROKER_TLS_CERT: file, SVC_BROKER_TLS_KEY: file });
  assert.equal(endpoint.client, { certFile: file, keyFile: file });
});

vault('every file must be readable', () => {
  const names = ['VAULT_CACERT', 'VAULT_CAPATH', 'SVC_BROKER_TLS_CA'];
  for (const name of names) {
    assert.equal(errorsOf({ ...token, [name]: absent }), [`${name}: ${absent} cannot be read (ENOENT)`]);
  }
  const waitedFor = { method: 'token-file', path: absent };
  assert.equal(read({ VAULT_ADDR: token.VAULT_ADDR, VAULT_TOKEN_FILE: absent }).auth, waitedFor);
  assert.match(errorsOf({ ...kubernetes, SVC_SA_TOKEN_PATH: absent })[0], /^SVC_SA_TOKEN_PATH/);
  assert.is(read({ ...token, SVC_SA_TOKEN_PATH: absent }).auth.method, 'token');
});

vault('a broker takes the place of the server, with trust of its own', () => {
  const broker = {
    ...token,
    SVC_BROKER_ADDR: 'https://broker.eu:1',
    VAULT_CACERT: file,
    VAULT_SKIP_VERIFY: 'true',
  };
  const alone = read(broker).endpoint;
  assert.is(alone.url.href, 'https://broker.eu:1/');
  assert.equal(alone.caFiles, [file]);
  assert.is(alone.skipVerify, false, 'a broker is always verified');
  assert.equal(read({ ...broker, VAULT_CACERT: '', SVC_BROKER_TLS_CA: file }).endpoint.caFiles, [file]);
});

vault('without a broker its CA adds to that of the server', () => {
  const { endpoint } = read({
    ...token,
    VAULT_CACERT: file,
    SVC_BROKER_TLS_CA: file,
    VAULT_SKIP_VERIFY: 'true',
  });
  assert.equal(endpoint.caFiles, [file, file]);
  assert.is(endpoint.skipVerify, true);
  assert.is(endpoint.caPath, undefined);
});

vault('the auth mount loses its outer slashes and stays below auth/', () => {
  const { auth } = read({ ...kubernetes, VAULT_AUTH_MOUNT_PATH: '/auth/eu/k8s-1/' });
  assert.is(auth.method === 'kubernetes' && auth.mountPath, 'auth/eu/k8s-1');
  for (const path of ['auth/', 'auth/../sys', 'auth//x', 'sys/x', 'auth/a b', 'auth/x?y']) {
    assert.match(errorsOf({ ...kubernetes, VAULT_AUTH_MOUNT_PATH: path })[0], /^VAULT_AUTH_MOUNT_PATH/, path);
  }
});

function read(env: Record<string, string>): VaultConfig {
  return vaultConfig(resolveSettings(vaultSettings, { env }, (config) => applyRules(config, vaultRules)));
}

function errorsOf(env: Record<string, string>): readonly [string, ...string[]] {
  try {
    read(env);
  } catch (error) {
    if (error instanceof SvcError) return error.details as [string, ...string[]];
    throw error;
  }
  throw new Error('the configuration was accepted');
}

vault.run();
