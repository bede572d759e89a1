import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkProxy, readConfig } from '../../../src/plugins/proxy/config.ts';
import { proxySettings } from '../../../src/plugins/proxy/settings.ts';
import type { SvcError } from '../../../src/runtime/errors.ts';
import { resolveSettings } from '../../../src/runtime/settings/resolve.ts';
import { createCertificateAuthority } from '../../support/certificates.ts';

const test = suite('settings of the proxy');

const least = { VAULT_ADDR: 'https://vault.example:8200', VAULT_TOKEN: 't', AWS_REGION: 'eu-central-1' };

const resolve = (env: Record<string, string | undefined>, flags: Record<string, string | boolean> = {}) =>
  resolveSettings(proxySettings, { env: { ...least, ...env }, flags }, checkProxy);

function errors(env: Record<string, string | undefined>, flags: Record<string, string | boolean> = {}) {
  try {
    resolve(env, flags);
    return [];
  } catch (error) {
    return (error as SvcError).details;
  }
}

test('little is needed, and the defaults are the documented ones', () => {
  const config = readConfig(resolve({}));
  assert.equal(config.listen, { host: '127.0.0.1', port: 8190 });
  assert.is(config.upstream.href, 'https://s3.eu-central-1.amazonaws.com/');
  assert.is(config.verifyBuffer, 16 * 1024 ** 2);
  assert.is(config.verifyBudget, 32 * 1024 ** 2);
  assert.is(config.inlineLimit, 64 * 1024 ** 2);
  assert.is(config.spoolSize, 8 * 1024 ** 3);
  assert.is(config.reservedPrefix, '.svc/');
  assert.is(config.binding, 'key');
  assert.is(config.unencryptedReads, 'allow');
  assert.is(config.workers, 1);
  assert.is(config.callerKeys, undefined);
  assert.is(config.spoolDir, tmpdir());
  assert.is(resolve({}).transitKey, 'svc');
  assert.is(resolve({}).joinKeyCalls, true);
  assert.equal(resolve({}).health, { host: undefined, port: 8191 });
});

test('files of a certificate are two, can be read, and belong together', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-tls-'));
  const [one, other] = [0, 1].map(() => createCertificateAuthority().issue({ commonName: 'proxy' }));
  const late = createCertificateAuthority().issue({ commonName: 'proxy', notAfter: new Date('2020-01-01') });
  const file = (name: string, text = '') => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const cert = file('tls.crt', one?.cert);
  const key = file('tls.key', one?.key);
  const found = (certFile: string, keyFile?: string) =>
    errors({ SVC_PROXY_TLS_CERT: certFile, SVC_PROXY_TLS_KEY: keyFile }).join('\n');
  assert.equal(readConfig(resolve({ SVC_PROXY_TLS_CERT: cert, SVC_PROXY_TLS_KEY: key })).tls, {
    certFile: cert,
    keyFile: key,
  });
  assert.match(found(cert), /^SVC_PROXY_TLS_KEY: required/);
  assert.match(
    found(cert, file('other', other?.key)),
    /^SVC_PROXY_TLS_KEY: .*is not the key of the certificate/,
  );
  assert.match(found(cert, file('none')), /^SVC_PROXY_TLS_KEY: .*holds no private key/);
  assert.match(found(join(folder, 'missing'), key), /^SVC_PROXY_TLS_CERT: .*cannot be read \(ENOENT\)/);
  assert.match(found(file('late', late.cert), file('late.key', late.key)), /expired on/);
  rmSync(folder, { recursive: true });
});

test('an access log with hashed keys needs a secret', () => {
  assert.is(readConfig(resolve({})).accessLog, undefined);
  assert.equal(readConfig(resolve({ SVC_PROXY_ACCESS_LOG: 'plain' })).accessLog, {
    keys: 'plain',
    secret: undefined,
  });
  assert.match(errors({ SVC_PROXY_ACCESS_LOG: 'hashed' }).join(), /^SVC_PROXY_ACCESS_LOG_SECRET: required/);
  assert.match(errors({ SVC_PROXY_ACCESS_LOG: 'yes' }).join(), /^SVC_PROXY_ACCESS_LOG: /);
});

test('a flag goes before its variable', () => {
  const config = readConfig(resolve({ SVC_PROXY_BIND: 'none' }, { bind: 'bucket-key', strict: true }));
  assert.is(config.binding, 'bucket-key');
  assert.is(config.strict, true);
});

test('calls to the key server are joined unless that is turned off, by one word only', () => {
  assert.is(resolve({ SVC_PROXY_JOIN_KEY_CALLS: 'false' }).joinKeyCalls, false);
  assert.is(resolve({}, { 'join-key-calls': 'false' }).joinKeyCalls, false);
  assert.match(
    errors({ SVC_PROXY_JOIN_KEY_CALLS: 'no' }).join(),
    /^SVC_PROXY_JOIN_KEY_CALLS: .*true or false/,
  );
});

test('the time for an answer of the key server is 5 s, or another one within bounds', () => {
  assert.is(resolve({}).vaultTimeout, 5_000);
  assert.is(resolve({}, { 'vault-timeout': '1500ms' }).vaultTimeout, 1_500);
  for (const given of ['100ms', '2m', '5'])
    assert.match(errors({ SVC_PROXY_VAULT_TIMEOUT: given }).join(), /^SVC_PROXY_VAULT_TIMEOUT: .*from 250ms/);
});

test('a region is needed only for the default store', () => {
  const none = { AWS_REGION: undefined };
  assert.match(errors(none).join(), /^AWS_REGION: required/);
  assert.equal(errors({ ...none, AWS_DEFAULT_REGION: 'eu-west-3' }), []);
  const config = readConfig(resolve({ ...none, SVC_PROXY_UPSTREAM: 'http://127.0.0.1:9000' }));
  assert.is(config.region, 'us-east-1');
});

test('an address beyond loopback needs callers that are known, or a word', () => {
  const keys = { SVC_PROXY_ACCESS_KEY_ID: 'AKID', SVC_PROXY_SECRET_ACCESS_KEY: 'secret-secret' };
  for (const listen of ['0.0.0.0:8190', ':8190', '[::]:8190', '10.0.0.1:8190', 'proxy.example:8190']) {
    assert.match(errors({ SVC_PROXY_LISTEN: listen }).join(), /^SVC_PROXY_LISTEN: is not a loopback/, listen);
    assert.equal(errors({ SVC_PROXY_LISTEN: listen, ...keys }), []);
    assert.equal(errors({ SVC_PROXY_LISTEN: listen }, { 'allow-anonymous': true }), []);
  }
  for (const listen of ['127.0.0.1:0', 'localhost:1', '[::1]:8190', '127.1.2.3:8190'])
    assert.equal(errors({ SVC_PROXY_LISTEN: listen }), [], listen);
});

test('hosts are names without ports', () => {
  assert.equal(readConfig(resolve({ SVC_PROXY_HOSTS: 'S3.internal, store' })).hosts, [
    's3.internal',
    'store',
  ]);
  for (const hosts of ['s3:8190', 'http://s3', 's3,,', '*.s3', 'a b'])
    assert.match(errors({ SVC_PROXY_HOSTS: hosts }).join(), /^SVC_PROXY_HOSTS/, hosts);
});

test('what is written has to be readable: no --require-bound without a binding', () => {
  const found = errors({ SVC_PROXY_BIND: 'none' }, { 'require-bound': true });
  assert.match(found.join(), /^SVC_PROXY_REQUIRE_BOUND: .*SVC_PROXY_BIND/);
  for (const bind of ['key', 'bucket-key'])
    assert.equal(errors({ SVC_PROXY_BIND: bind, SVC_PROXY_REQUIRE_BOUND: 'true' }), []);
});

test('caller keys come in pairs, and a secret that is wrong is not shown', () => {
  assert.match(errors({ SVC_PROXY_ACCESS_KEY_ID: 'AKID' }).join(), /^SVC_PROXY_SECRET_ACCESS_KEY: required/);
  assert.match(
    errors({ SVC_PROXY_SECRET_ACCESS_KEY: 'secret-secret' }).join(),
    /^SVC_PROXY_ACCESS_KEY_ID: required/,
  );
  const shown = errors({ SVC_PROXY_ACCESS_KEY_ID: 'AKID', SVC_PROXY_SECRET_ACCESS_KEY: 'hush' }).join();
  assert.match(shown, /SVC_PROXY_SECRET_ACCESS_KEY/);
  assert.not.match(shown, /hush/);
});

test('the budget holds at least one buffer', () => {
  const found = errors({ SVC_PROXY_VERIFY_BUFFER: '64MiB', SVC_PROXY_VERIFY_BUDGET: '32MiB' });
  assert.match(found.join(), /^SVC_PROXY_VERIFY_BUDGET: .*64MiB/);
});

test('the reserved prefix is one segment with its slash', () => {
  for (const prefix of ['.svc', '/', './', '../', 'a/b/', 'ä/', '.svc//'])
    assert.match(errors({ SVC_PROXY_RESERVED_PREFIX: prefix }).join(), /SVC_PROXY_RESERVED_PREFIX/, prefix);
  for (const prefix of ['.svc/', 'helper/', '_x-1/', '..a/'])
    assert.equal(errors({ SVC_PROXY_RESERVED_PREFIX: prefix }), [], prefix);
});

test('the spool must be a folder that can be used', () => {
  const folder = mkdtempSync(join(tmpdir(), 'settings-'));
  const file = join(folder, 'file');
  writeFileSync(file, '');
  assert.match(errors({ SVC_PROXY_SPOOL_DIR: file }).join(), /^SVC_PROXY_SPOOL_DIR: .* not a folder/);
  assert.match(errors({ SVC_PROXY_SPOOL_DIR: join(folder, 'none') }).join(), /ENOENT/);
  assert.equal(errors({ SVC_PROXY_SPOOL_DIR: folder }), []);
  rmSync(folder, { recursive: true });
});

test('all errors are told at once', () => {
  const found = errors({
    SVC_PROXY_WORKERS: 'many',
    SVC_PROXY_LISTEN: '0.0.0.0:1',
    VAULT_TOKEN: undefined,
  });
  for (const variable of ['SVC_PROXY_WORKERS', 'SVC_PROXY_LISTEN', 'VAULT_AUTH_ROLE'])
    assert.ok(
      found.some((line) => line.includes(variable)),
      variable,
    );
});

test('no worker count means one per core', () => {
  assert.ok(readConfig(resolve({ SVC_PROXY_WORKERS: '0' })).workers >= 1);
});

test.run();
