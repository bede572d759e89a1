import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http } from '../../../support/http.ts';
import { startOpenBao } from '../../../support/openbao.ts';
import { startSvcProxy } from '../../../support/svc-proxy.ts';
import type { ObjectStore, OpenBao, SvcProxy, SvcProxyConfig } from '../../../support/types.ts';
import { startVersityGw } from '../../../support/versitygw.ts';
import { waitFor } from '../../../support/wait-for.ts';

export const idle = true;

const test = suite('what keeps the proxy from being ready');

let bao: OpenBao;
let store: ObjectStore;
let token: string;
const started: SvcProxy[] = [];

test.before(async () => {
  [bao, store] = await Promise.all([startOpenBao(), startVersityGw({ tls: true })]);
  await bao.enableTransit();
  token = await bao.policyToken();
});
test.after(async () => {
  await Promise.all(started.map((proxy) => proxy.stop()));
  await Promise.all([bao?.stop(), store?.stop()]);
});

/** Trusts the store unless told otherwise. */
async function start(config: Partial<SvcProxyConfig> = {}): Promise<SvcProxy> {
  const vault = { addr: bao.url, token };
  const proxy = await startSvcProxy({ upstream: store, vault, waitReady: false, ...config });
  started.push(proxy);
  return proxy;
}

/** A token that may do one of the two. */
async function tokenFor(operation: 'encrypt' | 'decrypt'): Promise<string> {
  const policy = `path "transit/${operation}/svc" { capabilities = ["update"] }`;
  await bao.request('PUT', `sys/policies/acl/${operation}-only`, { policy });
  const body = { policies: [`${operation}-only`], no_default_policy: true };
  return (await bao.request('POST', 'auth/token/create', body)).json.auth.client_token;
}

type Reasons = Readonly<Record<string, string>>;

/** The reasons of `/readyz` when each condition has been tried; the process is alive all the same. */
function reasons({ health, output }: SvcProxy): Promise<Reasons> {
  const settled = async () => {
    const { status, json } = await http(`${health}/readyz`);
    assert.is((await http(`${health}/healthz`)).status, 200);
    if (status === 200) return {};
    assert.is(status, 503);
    const told: Reasons = json.reasons;
    return Object.values(told).some((text) => /not tried|starting|login .* yet/.test(text))
      ? undefined
      : told;
  };
  return waitFor('an outcome of each condition', settled, { details: output });
}

const untrusted = { caFile: undefined };

test('nothing, where keys go there and back and the store answers', async () => {
  assert.equal(await reasons(await start()), {});
});

test('a policy without decrypt, and a store whose certificate nobody trusts; each is named', async () => {
  const vault = { addr: bao.url, token: await tokenFor('encrypt') };
  const proxy = await start({ upstream: { ...store, ...untrusted }, vault });
  const { keys = '', store: reason = '', ...more } = await reasons(proxy);
  assert.match(keys, 'refuses update on transit/decrypt/svc');
  assert.match(reason, /certificate of the object store is not trusted \([A-Z_]+\)/);
  assert.equal(more, {});
  assert.match(proxy.output(), /"event":"proxy.readiness.lost".*AWS_CA_BUNDLE/);
});

test('a policy without encrypt, and no credentials for the store, of two workers', async () => {
  const vault = { addr: bao.url, token: await tokenFor('decrypt') };
  const upstream = { ...store, accessKeyId: '', secretAccessKey: '' };
  const proxy = await start({ upstream, vault, args: ['--workers', '2'] });
  const { keys = '', store: reason = '', ...more } = await reasons(proxy);
  assert.match(keys, 'refuses update on transit/encrypt/svc');
  assert.match(reason, 'no credentials for the object store');
  assert.equal(more, {});
});

test('credentials that the store does not know', async () => {
  const other = await start({ upstream: { ...store, secretAccessKey: 'another-secret' } });
  const { store: reason = '', ...more } = await reasons(other);
  assert.match(reason, "refuses the proxy's own credentials (SignatureDoesNotMatch)");
  assert.equal(more, {});
  assert.match(other.output(), `"Check the proxy's AWS_* variables or its role, AWS_REGION and the clock."`);
  assert.not.ok(other.output().includes('another-secret'));
});

test('a sealed key server, until it is unsealed', async () => {
  await bao.seal();
  const sealed = await start();
  const { keys = '', vault = '', ...more } = await reasons(sealed);
  assert.match(keys, /sealed/i, keys);
  assert.match(vault, /sealed/i);
  assert.equal(more, {});
  await bao.unseal();
  const ready = async () => (await http(`${sealed.health}/readyz`)).status === 200;
  await waitFor('readiness', ready, { details: () => sealed.output() });
  assert.match(sealed.output(), '"event":"proxy.readiness.regained"');
});

test('a store that is away', async () => {
  const away = await start({ upstream: { ...store, endpoint: 'https://127.0.0.1:9' } });
  const { store: reason = '', ...more } = await reasons(away);
  assert.match(reason, 'cannot be reached (ECONNREFUSED)');
  assert.match(away.output(), '"Check --upstream, the name service and the egress policy."');
  assert.equal(more, {});
});

test.run();
