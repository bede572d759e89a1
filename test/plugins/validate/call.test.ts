import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { launch } from '../../support/child.ts';
import { cleanEnv } from '../../support/clean-env.ts';
import { waitFor } from '../../support/wait-for.ts';
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
    await new Promise<void>((resolve) => away.listen(0, '127.0.0.1', resolve));
    const env = cleanEnv({ VAULT_ADDR: `http://127.0.0.1:${(away.address() as AddressInfo).port}` });
    const args = validateArguments({ check: ['SVC-VAULT-002'], wait: '1h' });
    const child = await launch(process.execPath, [entry, 'validate', ...args], { env });
    try {
      await waitFor('the first round', () => child.ended || asked > 0, { details: child.logs });
    } finally {
      assert.is((await child.end(signal)).code, status, child.logs());
      away.closeAllConnections();
      away.close();
    }
  });
}

test.run();
