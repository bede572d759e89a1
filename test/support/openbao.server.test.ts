import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startOpenBao } from './openbao.ts';
import type { OpenBao } from './types.ts';

const test = suite<{ bao: OpenBao }>('OpenBao starter');

test.before(async (context) => {
  context.bao = await startOpenBao();
  await context.bao.enableTransit();
});

test.after(async ({ bao }) => {
  await bao?.stop();
});

const base64 = (text: string) => Buffer.from(text).toString('base64');

test('transit wraps a batch with associated data and refuses another', async ({ bao }) => {
  const token = await bao.policyToken();
  const items = ['a', 'b'].map((text) => ({
    plaintext: base64(text),
    associated_data: base64(`key ${text}`),
  }));
  const wrapped = await bao.request('POST', 'transit/encrypt/svc', { batch_input: items }, token);
  const [a, b] = wrapped.json.data.batch_results.map((item: { ciphertext: string }) => item.ciphertext);
  assert.match(a, /^vault:v1:/);
  const right = { ciphertext: a, associated_data: base64('key a') };
  const wrong = { ciphertext: b, associated_data: base64('key a') };
  const opened = await bao.request('POST', 'transit/decrypt/svc', { batch_input: [right, wrong] }, token);
  assert.is(opened.status, 400);
  assert.is(opened.json.data.batch_results[0].plaintext, base64('a'));
  assert.match(opened.json.data.batch_results[1].error, /message authentication failed/);
});

test('a policy token may use the one key and nothing else', async ({ bao }) => {
  const token = await bao.policyToken();
  const body = { plaintext: base64('x') };
  assert.is((await bao.request('POST', 'transit/encrypt/svc', body, token)).status, 200);
  assert.is((await bao.request('POST', 'transit/encrypt/other', body, token)).status, 403);
  assert.is((await bao.request('GET', 'transit/keys/svc', undefined, token)).status, 403);
  assert.is((await bao.request('POST', 'auth/token/renew-self', {}, token)).status, 403);
  assert.is((await bao.request('GET', 'auth/token/lookup-self', undefined, token)).status, 403);
});

test('a rotated key writes the next version', async ({ bao }) => {
  await bao.enableTransit('transit-rotated', 'svc');
  await bao.rotate('transit-rotated', 'svc');
  const wrapped = await bao.request('POST', 'transit-rotated/encrypt/svc', { plaintext: base64('x') });
  assert.match(wrapped.json.data.ciphertext, /^vault:v2:/);
});

test('a revoked token is refused', async ({ bao }) => {
  const token = await bao.policyToken();
  await bao.revoke(token);
  const answer = await bao.request('POST', 'transit/encrypt/svc', { plaintext: base64('x') }, token);
  assert.is(answer.status, 403);
});

test('a service account logs in, and no longer once its JWT is revoked', async ({ bao }) => {
  const auth = await bao.enableKubernetesAuth({ ttl: '90s' });
  const login = () =>
    bao.request(
      'POST',
      `${auth.mountPath}/login`,
      { role: auth.role, jwt: readFileSync(auth.jwtPath, 'utf8') },
      null,
    );
  const granted = await login();
  assert.is(granted.status, 200, granted.text);
  assert.is(granted.json.auth.lease_duration, 90);
  const token = granted.json.auth.client_token;
  assert.is(
    (await bao.request('POST', 'transit/encrypt/svc', { plaintext: base64('x') }, token)).status,
    200,
  );
  assert.is((await bao.request('POST', 'auth/token/renew-self', {}, token)).status, 403);
  auth.revokeJwt();
  assert.is((await login()).status, 403);
  auth.issue();
  assert.is((await login()).status, 200);
  assert.is(auth.reviews(), 3);
});

test('sealed it answers 503, unsealed it works on', async ({ bao }) => {
  const token = await bao.policyToken();
  const encrypt = () => bao.request('POST', 'transit/encrypt/svc', { plaintext: base64('x') }, token);
  await bao.seal();
  assert.is((await encrypt()).status, 503);
  await bao.unseal();
  assert.is((await encrypt()).status, 200);
});

test('with TLS it is reached through its own CA only', async () => {
  const bao = await startOpenBao({ tls: true });
  try {
    assert.match(bao.url, /^https:/);
    assert.is((await bao.request('GET', 'sys/health')).json.sealed, false);
    const refused = await fetch(`${bao.url}/v1/sys/health`).catch((error) => error.cause.code);
    assert.match(String(refused), /SELF_SIGNED|UNABLE_TO/);
  } finally {
    await bao.stop();
  }
});

test.run();
