import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runValidate, statesOf } from './run-validate.ts';

const test = suite('how svc validate is called');

test('a mistaken variable is told of, whatever is to be checked: nothing passes on the default in its place', async () => {
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
  test(`${signal} ends it with ${status}, and leaves no listener`, async () => {
    const before = process.listeners(signal);
    const running = runValidate({ check: ['SVC-CONFIG-001'], wait: '1h' }, { VAULT_ADDR: 'everywhere' });
    const listener = await newListener(signal, before);
    listener(signal);
    assert.is((await running).status, status);
    assert.equal(process.listeners(signal), before);
  });
}

async function newListener(signal: 'SIGINT' | 'SIGTERM', before: readonly unknown[]) {
  for (;;) {
    const found = process.listeners(signal).find((one) => !before.includes(one));
    if (found !== undefined) return found as (signal: string) => void;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test.run();
