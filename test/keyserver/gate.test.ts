import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Gate } from '../../src/keyserver/client.ts';
import { rejection, vaultFailure } from './rejection.ts';

const test = suite('gate');

const later = () => performance.now() + 10_000;

test('lets waiting callers in by their order', async () => {
  const gate = new Gate(1);
  let leave = await gate.enter(later(), undefined);
  const order: number[] = [];
  const entered = [1, 2, 3].map((number) =>
    gate.enter(later(), undefined).then((next) => {
      order.push(number);
      return next;
    }),
  );
  for (const one of entered) {
    leave();
    leave = await one;
  }
  assert.equal(order, [1, 2, 3]);
});

test('who gives up frees no place and takes none', async () => {
  const gate = new Gate(1);
  const leave = await gate.enter(later(), undefined);
  await vaultFailure(gate.enter(performance.now(), undefined), 'unavailable');
  const abort = new AbortController();
  const aborted = rejection(gate.enter(later(), abort.signal));
  const waiting = gate.enter(later(), undefined);
  abort.abort('gone');
  assert.is(await aborted, 'gone');
  leave();
  const leaveNext = await waiting;
  await vaultFailure(gate.enter(performance.now(), undefined), 'unavailable');
  leaveNext();
  await gate.enter(later(), undefined);
});

test('a place that is given in the instant of giving up goes on to the next', async () => {
  const gate = new Gate(1);
  const leave = await gate.enter(later(), undefined);
  const abort = new AbortController();
  const first = rejection(gate.enter(later(), abort.signal));
  const second = gate.enter(later(), undefined);
  abort.abort('gone');
  leave();
  assert.is(await first, 'gone');
  await second;
});

test.run();
