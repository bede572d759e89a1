import { randomBytes } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createVaultClient, type ExchangingVaultClient } from '../../../../src/keyserver/client.ts';
import { vaultConnection } from '../../../../src/keyserver/connection.ts';
import type { Transit, VaultRequest } from '../../../../src/keyserver/contract.ts';
import { createLeanTransport } from '../../../../src/keyserver/lean-transport.ts';
import { createTransit } from '../../../../src/keyserver/transit.ts';
import { setUpTransit } from '../../../../src/plugins/dev/servers.ts';
import { vaultFailure } from '../../../keyserver/rejection.ts';
import { quietLog } from '../quiet-log.ts';

export interface KeyServerUnderTest {
  readonly url: string;
  readonly rootToken: string;
  stop(): Promise<void>;
}

interface Context {
  server: KeyServerUnderTest;
  token: string;
  client: ExchangingVaultClient;
  transit: Transit;
}

const keyName = 'svc';

/** What the embedded key server and a real one have in common, seen through svc's own client. */
export function transitConformance(name: string, start: () => Promise<KeyServerUnderTest>): void {
  const test = suite<Context>(`transit of ${name}`);

  test.before(async (context) => {
    context.server = await start();
    const { url, rootToken } = context.server;
    context.token = await setUpTransit({ url, rootToken, mount: 'transit', keyName });
    context.client = clientOf(url, context.token);
    context.transit = createTransit(context.client, { mount: 'transit', keyName });
    await context.client.start();
  });
  test.after(async ({ server, client }) => {
    await client?.close();
    await server?.stop();
  });

  test('wraps and unwraps one key and many, each bound to its own text', async ({ transit }) => {
    for (const count of [1, 2, 450]) {
      const items = Array.from({ length: count }, (_, n) => ({
        key: randomBytes(32),
        associatedData: `ü/${n}`,
      }));
      const wrapped = await transit.wrap(items);
      assert.is(wrapped.length, count);
      const asked = wrapped.map(({ ciphertext }, n) => ({ ciphertext, associatedData: `ü/${n}` }));
      const keys = await transit.unwrap(asked);
      assert.ok(keys.every((key, n) => items[n]?.key.equals(key)));
    }
  });

  test('refuses other associated data, changed ciphertext, and names the item', async ({ transit }) => {
    const [first, second] = await transit.wrap([
      { key: randomBytes(32), associatedData: 'a' },
      { key: randomBytes(32), associatedData: 'b' },
    ]);
    assert.ok(first && second);
    const swapped = transit.unwrap([
      { ciphertext: first.ciphertext, associatedData: 'a' },
      { ciphertext: second.ciphertext, associatedData: 'a' },
    ]);
    assert.is((await vaultFailure(swapped, 'rejected')).index, 1);
    await vaultFailure(transit.unwrap([{ ciphertext: first.ciphertext }]), 'rejected');
    const bytes = Buffer.from(first.ciphertext.slice('vault:v1:'.length), 'base64');
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    const changed = { ciphertext: `vault:v1:${bytes.toString('base64')}`, associatedData: 'a' };
    assert.match(
      (await vaultFailure(transit.unwrap([changed]), 'rejected')).message,
      /authentication failed/,
    );
  });

  test('rotation: new wraps carry the new version, old ones open until their version is given up', async (context) => {
    const { transit, server } = context;
    const [old] = await transit.wrap([{ key: Buffer.alloc(32, 7) }]);
    assert.ok(old);
    await asRoot(server, 'POST', `transit/keys/${keyName}/rotate`);
    const [fresh] = await transit.wrap([{ key: Buffer.alloc(32, 8) }]);
    assert.is(fresh?.keyVersion, old.keyVersion + 1);
    assert.equal(await transit.unwrap([old]), [Buffer.alloc(32, 7)]);
    const config = { min_decryption_version: old.keyVersion + 1 };
    await asRoot(server, 'POST', `transit/keys/${keyName}/config`, config);
    await vaultFailure(transit.unwrap([old]), 'expired-version');
    const { body } = await asRoot(server, 'GET', `transit/keys/${keyName}`);
    // biome-ignore lint/suspicious/noExplicitAny: an answer picked apart
    const { data } = body as any;
    assert.equal(
      [data.latest_version, data.min_decryption_version],
      [old.keyVersion + 1, old.keyVersion + 1],
    );
  });

  test('the token of the set-up may update the two paths and nothing else', async ({ server, token }) => {
    const denied: VaultRequest[] = [
      { method: 'GET', path: `transit/keys/${keyName}` },
      { method: 'POST', path: `transit/keys/${keyName}/rotate`, body: {} },
      { method: 'POST', path: 'transit/encrypt/other', body: { plaintext: 'AAAA' } },
      { method: 'GET', path: 'sys/mounts' },
      { method: 'GET', path: 'auth/token/lookup-self' },
    ];
    for (const request of denied)
      assert.is((await send(server.url, token, request)).status, 403, `${request.method} ${request.path}`);
  });

  test('an unknown token is denied', async ({ server }) => {
    const client = clientOf(server.url, 's.nobody');
    const transit = createTransit(client, { mount: 'transit', keyName });
    await client.start();
    await vaultFailure(transit.wrap([{ key: randomBytes(32) }]), 'denied');
    await client.close();
  });

  test('setting up again keeps the key', async ({ server, transit }) => {
    const [before] = await transit.wrap([{ key: Buffer.alloc(32, 9) }]);
    assert.ok(before);
    const { url, rootToken } = server;
    const token = await setUpTransit({ url, rootToken, mount: 'transit', keyName });
    const client = clientOf(url, token);
    await client.start();
    const again = createTransit(client, { mount: 'transit', keyName });
    assert.equal(await again.unwrap([before]), [Buffer.alloc(32, 9)]);
    await client.close();
  });

  test('a key or mount that does not exist is not found', async ({ server }) => {
    const missingKey = {
      method: 'POST',
      path: 'transit/decrypt/none',
      body: { ciphertext: 'vault:v1:AAAA' },
    } as const;
    assert.is((await send(server.url, server.rootToken, missingKey)).status, 400);
    const missingMount = { method: 'POST', path: 'nowhere/encrypt/svc', body: {} } as const;
    assert.is((await send(server.url, server.rootToken, missingMount)).status, 404);
  });

  test('says that it is well', async ({ server }) => {
    const { status, body } = await send(server.url, undefined, { method: 'GET', path: 'sys/health' });
    assert.is(status, 200);
    const { initialized, sealed, standby } = body as Record<string, unknown>;
    assert.equal({ initialized, sealed, standby }, { initialized: true, sealed: false, standby: false });
  });

  test.run();
}

const configOf = (url: string, token: string) => ({
  endpoint: { url: new URL(url), skipVerify: false, caFiles: [], caPath: undefined, client: undefined },
  auth: { method: 'token', token } as const,
  namespace: undefined,
});

const clientOf = (url: string, token: string): ExchangingVaultClient =>
  createVaultClient({
    ...{ component: 'test', config: configOf(url, token), log: quietLog() },
    onState: () => undefined,
  });

async function send(url: string, token: string | undefined, request: VaultRequest) {
  const transport = createLeanTransport(vaultConnection(configOf(url, ''), 'test'));
  try {
    return await transport.send({ ...request, ...(token === undefined ? {} : { token }) });
  } finally {
    transport.close();
  }
}

async function asRoot(
  { url, rootToken }: KeyServerUnderTest,
  method: VaultRequest['method'],
  path: string,
  body?: unknown,
) {
  const answer = await send(url, rootToken, { method, path, ...(body === undefined ? {} : { body }) });
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer;
}
