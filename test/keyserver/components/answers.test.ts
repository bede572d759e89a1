import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { VaultError } from '../../../src/keyserver/contract.ts';
import { type FakeKeyServer, fakeKeyServer, type Handler } from '../fake-key-server.ts';
import { vaultFailure } from '../rejection.ts';
import { answers } from './answers.ts';
import { type Component, components } from './clients.ts';

const test = suite<{ server: FakeKeyServer }>('answers of a key server, to every component');
const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));

test.before.each(async (context) => {
  context.server = await fakeKeyServer(answers({}));
});
test.after.each(({ server }) => server.stop());

function each(name: string, check: (component: Component, server: FakeKeyServer) => Promise<void>): void {
  for (const component of components)
    test(`${component.name}: ${name}`, ({ server }) => check(component, server));
}

/** The failure of a request that is answered so, after a login. */
async function failure(component: Component, server: FakeKeyServer, answer: Handler): Promise<VaultError> {
  server.handler = answers({ 'kv/data/': answer });
  return vaultFailure(component.ask(server.url), 'unavailable');
}

each('names itself, with its version, in each request', async (component, server) => {
  await component.ask(server.url);
  assert.ok(server.seen.length > 0);
  for (const { headers } of server.seen) assert.is(headers['user-agent'], `svc-${component.name}/${version}`);
});

each('what may pass is unavailable', async (component, server) => {
  for (const status of [408, 412, 425, 429, 472, 473, 500, 502, 503, 504]) {
    const error = await failure(component, server, () => ({ status, json: { errors: ['wait'] } }));
    assert.is(error.status, status);
    assert.is(error.retryAfterMs, undefined);
  }
});

each('Retry-After is part of the failure, and bounded', async (component, server) => {
  const inTwoHours = new Date(Date.now() + 7_200_000).toUTCString();
  for (const [header, ms] of [
    ['3', 3_000],
    ['7200', 60_000],
    [inTwoHours, 60_000],
    ['soon', undefined],
    ['0', undefined],
  ] as const) {
    const error = await failure(component, server, (_request, response) => {
      response.setHeader('retry-after', header);
      return { status: 429, json: { errors: ['slow down'] } };
    });
    assert.is(error.retryAfterMs, ms, header);
  }
});

each('a 403 that is not from the key server is no refusal', async (component, server) => {
  for (const [type, page] of [
    ['text/html', '<html>Forbidden</html>'],
    ['application/json', '{"message":"Forbidden"}'],
    ['application/json', ''],
  ] as const) {
    const error = await failure(component, server, (_request, response) => {
      response.writeHead(403, { 'content-type': type }).end(page);
      return undefined;
    });
    assert.match(error.message, /^Something in between, not the key server, answered 403 to kv\/data\/x$/);
    assert.match(error.nextStep, /gateway or firewall/);
  }
});

each('a 403 with a reason is a refusal', async (component, server) => {
  server.handler = answers({
    'kv/data/': () => ({ status: 403, json: { errors: ['1 error occurred:\n\t* permission denied\n\n'] } }),
  });
  await vaultFailure(component.ask(server.url), 'denied');
});

test.run();
