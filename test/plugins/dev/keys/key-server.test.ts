import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type KeyServer, startKeyServer } from '../../../../src/plugins/dev/keys/key-server.ts';
import { type KeyFile, keyFile, noKeyFile } from '../../../../src/plugins/dev/keys/transit-keys.ts';
import { SvcError } from '../../../../src/runtime/errors.ts';
import { http } from '../../../support/http.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { quietLog } from '../quiet-log.ts';

const test = suite('embedded key server');

async function withServer(file: KeyFile, use: (ask: Ask, server: KeyServer) => Promise<void>): Promise<void> {
  const server = await startKeyServer(file, quietLog());
  const ask: Ask = (method, path, body, token = server.rootToken) =>
    http(`${server.url}/v1/${path}`, {
      method,
      headers: { 'x-vault-token': token },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  await use(ask, server).finally(() => server.close());
}

type Ask = (method: string, path: string, body?: unknown, token?: string) => ReturnType<typeof http>;

test('keys outlive the server in a file that only its owner can read', async () => {
  const folder = temporaryFolder('keys');
  const path = join(folder.path, 'keys.json');
  let ciphertext = '';
  await withServer(keyFile(path), async (ask) => {
    await ask('POST', 'sys/mounts/transit', { type: 'transit' });
    await ask('POST', 'transit/keys/svc', {});
    ciphertext = (await ask('POST', 'transit/encrypt/svc', { plaintext: 'a2V5' })).json.data.ciphertext;
    await ask('POST', 'transit/keys/svc/rotate', {});
  });
  assert.is(statSync(path).mode & 0o777, 0o600);
  assert.match(readFileSync(path, 'utf8'), /for development only/);
  await withServer(keyFile(path), async (ask) => {
    assert.is((await ask('POST', 'transit/decrypt/svc', { ciphertext })).json.data.plaintext, 'a2V5');
    assert.is((await ask('GET', 'transit/keys/svc')).json.data.latest_version, 2);
  });
  await folder.remove();
});

test('a key file that cannot be read is not replaced', async () => {
  const folder = temporaryFolder('keys');
  const path = join(folder.path, 'keys.json');
  writeFileSync(path, '{"mounts":');
  chmodSync(path, 0o600);
  const error = await startKeyServer(keyFile(path), quietLog()).catch((cause) => cause);
  assert.ok(error instanceof SvcError);
  assert.is(error.code, 'DEV_KEYS');
  assert.is(readFileSync(path, 'utf8'), '{"mounts":');
  await folder.remove();
});

test('among many items a bad one is named and the good ones are there, with 400', async () => {
  await withServer(noKeyFile, async (ask) => {
    await ask('POST', 'sys/mounts/transit', { type: 'transit' });
    await ask('POST', 'transit/keys/svc', {});
    const batch = [{ plaintext: 'AAAA' }, { plaintext: 'no base64' }, {}];
    const { status, json } = await ask('POST', 'transit/encrypt/svc', { batch_input: batch });
    assert.is(status, 400);
    const [good, bad, missing] = json.data.batch_results;
    assert.match(good.ciphertext, /^vault:v1:/);
    assert.match(bad.error, /base64/);
    assert.match(missing.error, /missing plaintext/);
  });
});

test('answers nonsense with the status that fits, and repeats nothing of it', async () => {
  await withServer(noKeyFile, async (ask) => {
    await ask('POST', 'sys/mounts/transit', { type: 'transit' });
    await ask('POST', 'transit/keys/svc', {});
    const cases: [method: string, path: string, body: unknown, status: number][] = [
      ['POST', 'transit/encrypt/svc', '{"plaintext":"c2VjcmV0', 400],
      ['POST', 'transit/encrypt/svc', '["c2VjcmV0"]', 400],
      ['POST', 'transit/encrypt/svc', { batch_input: [] }, 400],
      ['POST', 'transit/decrypt/svc', { ciphertext: 'vault:v9:AAAA' }, 400],
      ['POST', 'transit/decrypt/svc', { ciphertext: 'vault:v1:AAAA' }, 400],
      ['POST', 'transit/decrypt/svc', { ciphertext: 'c2VjcmV0' }, 400],
      ['POST', 'transit/keys/svc/config', { min_decryption_version: 7 }, 400],
      ['GET', 'transit/keys/none', undefined, 404],
      ['GET', 'transit/keys/%ff', undefined, 404],
      ['POST', 'sys/mounts/transit', { type: 'transit' }, 400],
      ['POST', 'sys/mounts/kv', { type: 'kv' }, 400],
      ['PUT', 'sys/policies/acl/p', { policy: 'path "*" { capabilities = ["update"] }' }, 400],
      ['POST', 'auth/token/create', { policies: 'p' }, 400],
      ['DELETE', 'transit/keys/svc', undefined, 404],
    ];
    for (const [method, path, body, status] of cases) {
      const answer = await ask(method, path, body);
      assert.is(answer.status, status, `${method} ${path} ${answer.text}`);
      assert.ok(answer.json.errors.length > 0);
      assert.not.match(answer.text, /c2VjcmV0/);
    }
  });
});

test('a revoked token is unknown from then on, in the words that tell it from a missing policy', async () => {
  await withServer(noKeyFile, async (ask) => {
    await ask('PUT', 'sys/policies/acl/p', { policy: 'path "sys/mounts" { capabilities = ["read"] }' });
    const token = (await ask('POST', 'auth/token/create', { policies: ['p'] })).json.auth.client_token;
    assert.is((await ask('GET', 'sys/mounts', undefined, token)).status, 200);
    const outside = await ask('POST', 'sys/mounts/x', { type: 'transit' }, token);
    assert.equal(
      [outside.status, outside.json.errors],
      [403, ['1 error occurred:\n\t* permission denied\n\n']],
    );
    await ask('POST', 'auth/token/revoke', { token });
    const revoked = await ask('GET', 'sys/mounts', undefined, token);
    assert.equal([revoked.status, revoked.json.errors], [403, ['permission denied']]);
  });
});

test.run();
