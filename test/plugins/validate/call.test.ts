import { createServer } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { launch } from '../../support/child.ts';
import { cleanEnv } from '../../support/clean-env.ts';
import { listen } from '../../support/loopback.ts';
import { entry, runValidate, statesOf, validateArguments } from './run-validate.ts';

const test = suite('how svc validate is called');

test('a wrong variable is told of, whatever is to be checked: nothing passes on the default in its place', async () => {
  const env = { SVC_TRANSIT_KEY: 'no such/key' };
  const run = await runValidate({ area: ['kek'] }, env);
  assert.is(statesOf(run)['SVC-CONFIG-001'], 'failed');
  assert.is(run.status, 1);
  const right = await runValidate({ area: ['kek'] }, { SVC_TRANSIT_KEY: 'photos' });
  assert.is(statesOf(right)['SVC-CONFIG-001'], undefined);
  const machine = await runValidate({ check: ['SVC-HOST-001'] }, env);
  assert.equal(Object.keys(statesOf(machine)), ['SVC-HOST-001']);
});

for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`${signal} ends it with ${status}`, async () => {
    let asked = 0;
    const away = createServer((_request, response) => {
      asked += 1;
      response.writeHead(503).end();
    });
    const { url, stop } = await listen(away);
    const env = cleanEnv({ VAULT_ADDR: url });
    const args = validateArguments({ check: ['SVC-VAULT-002'], wait: '1h' });
    const child = await launch(process.execPath, [entry, 'validate', ...args], { env });
    try {
      await child.until('the first round', () => asked > 0);
    } finally {
      assert.is((await child.end(signal)).code, status, child.logs());
      await stop();
    }
  });
}

test.run();
