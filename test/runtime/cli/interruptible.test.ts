import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { interruptible } from '../../../src/runtime/cli/terminal.ts';
import { untilAborted } from '../../../src/runtime/lifecycle/wait.ts';

const test = suite('work that may be interrupted');

/** Our listener alone: a signal to this process would reach the runner's. */
function send(signal: 'SIGINT' | 'SIGTERM', before: readonly unknown[]): void {
  const [listener] = process.listeners(signal).filter((one) => !before.includes(one));
  listener?.(signal);
}

for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`${signal} aborts it, and its status is ${status}`, async () => {
    const before = process.listeners(signal);
    const running = interruptible(async (stop) => {
      await untilAborted(stop);
      throw new Error('given up');
    });
    send(signal, before);
    assert.is(await running, status);
    assert.equal(process.listeners(signal), before);
  });
}

test('what fails by itself is thrown, and leaves no listener', async () => {
  const before = process.listeners('SIGINT');
  const failing = interruptible(async () => {
    throw new Error('of its own');
  });
  assert.match(String(await failing.catch((error: unknown) => error)), /of its own/);
  assert.equal(process.listeners('SIGINT'), before);
});

test('work that ends all the same has its own status', async () => {
  const before = process.listeners('SIGINT');
  const running = interruptible(async (stop) => {
    await untilAborted(stop);
    return 4;
  });
  send('SIGINT', before);
  assert.is(await running, 4);
});

test.run();
