import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { VaultConnectionSettings } from '../../src/keyserver/connection.ts';
import type { JsonHttpClient, JsonHttpRequest } from '../../src/keyserver/json-http-client.ts';
import { followStandby } from '../../src/keyserver/lean-transport.ts';

const test = suite('the way from a standby to the active server');
const connection = { followStandby: true } as VaultConnectionSettings;

/** Where the token goes after a 307 from `origin` to the same path at `target`; undefined: nowhere. */
async function followed(origin: string, target: string): Promise<string | undefined> {
  let reached: string | undefined;
  const wire: JsonHttpClient = {
    exchange: async (request) => {
      reached = request.origin.origin;
      return { status: 200, body: undefined, location: undefined };
    },
    close: () => undefined,
  };
  const request: JsonHttpRequest = {
    method: 'POST',
    origin: new URL(origin),
    path: '/v1/transit/decrypt/svc',
    headers: { 'X-Vault-Token': 's.token' },
    timeoutMs: 1000,
  };
  const answer = { status: 307, body: undefined, location: `${target}${request.path}` };
  await (async () => followStandby(wire, connection, request, answer))().catch((error: Error) =>
    assert.match(error.message, /redirects elsewhere/),
  );
  return reached;
}

test('with TLS to any host, whose certificate will be looked at', async () => {
  assert.is(
    await followed('https://vault-0.example.eu:8200', 'https://vault-1.example.eu:8200'),
    'https://vault-1.example.eu:8200',
  );
});

test('without TLS on this machine only', async () => {
  for (const target of ['http://127.0.0.1:8300', 'http://localhost:8300', 'http://[::1]:8300'])
    assert.is(await followed('http://127.0.0.1:8200', target), target);
});

test('never in the clear over the network', async () => {
  for (const target of [
    'http://10.0.0.5:8200',
    'http://vault-1.example.eu:8200',
    'http://127.0.0.1.example.eu',
  ])
    assert.is(await followed('http://127.0.0.1:8200', target), undefined);
  assert.is(await followed('https://vault-0.example.eu', 'http://127.0.0.1:8200'), undefined);
});

test.run();
