import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCaPropagation } from '../../../../src/plugins/operator/certificates/keeper.ts';
import { repeatPass } from '../../../../src/plugins/operator/certificates/repeat-pass.ts';
import { quietLog } from '../../../support/quiet-log.ts';
import { waitFor } from '../../../support/wait-for.ts';

const test = suite('repeatPass and CaPropagation');
const hour = 3_600_000;

test('begins at once, again when it is woken, and ends when it is told', async () => {
  const controller = new AbortController();
  let count = 0;
  const pass = async () => {
    count += 1;
  };
  const options = { event: 'test', intervalMs: hour, pass, log: quietLog, signal: controller.signal };
  const { wake, closed } = repeatPass(options);
  await waitFor('the first', () => count === 1);
  wake();
  wake();
  await waitFor('the second', () => count === 2);
  controller.abort();
  await closed;
  assert.is(count, 2);
});

test('does not lose a reason that comes while a pass is under way', async () => {
  const controller = new AbortController();
  const first = Promise.withResolvers<void>();
  let count = 0;
  const pass = async () => {
    count += 1;
    if (count === 1) await first.promise;
  };
  const options = { event: 'test', intervalMs: hour, pass, log: quietLog, signal: controller.signal };
  const { wake, closed } = repeatPass(options);
  await waitFor('the first', () => count === 1);
  wake();
  first.resolve();
  await waitFor('the second', () => count === 2);
  controller.abort();
  await closed;
});

test('repeats a pass that fails', async () => {
  const controller = new AbortController();
  let count = 0;
  const pass = async () => {
    count += 1;
    if (count < 3) throw new Error('no');
  };
  const options = { event: 'test', intervalMs: hour, pass, log: quietLog, signal: controller.signal };
  const { closed } = repeatPass(options);
  await waitFor('the third', () => count === 3);
  controller.abort();
  await closed;
});

test('settles a bundle that has stayed the same, and begins anew with another or without a leader', () => {
  let now = 0;
  const propagation = createCaPropagation(10, () => now);
  const seen: boolean[] = [];
  const look = (at: number, bundle: string, known = true) => {
    now = at;
    propagation.see(bundle, known);
    seen.push(propagation.isSettled(bundle));
  };
  look(0, 'a');
  look(9, 'a');
  look(10, 'a');
  look(11, 'b');
  look(21, 'b');
  look(22, 'b', false);
  look(23, 'b');
  look(33, 'b');
  assert.equal(seen, [false, false, true, false, true, false, false, true]);
  propagation.forget();
  assert.not(propagation.isSettled('b'));
});

test.run();
