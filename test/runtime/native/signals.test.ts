import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tryInt } from '../../../src/runtime/native/libc.ts';
import {
  dropPending,
  endBySignals,
  ignoreSignal,
  resetSignals,
  withSignalsBlocked,
} from '../../../src/runtime/native/processes.ts';

const { SIGPIPE, SIGURG, SIGUSR2, SIGWINCH } = constants.signals;

/** The bits of /proc/thread-self/status: which signals are caught, ignored, blocked. */
function has(field: 'SigCgt' | 'SigIgn' | 'SigBlk' | 'SigPnd', signal: number): boolean {
  const status = readFileSync('/proc/thread-self/status', 'latin1');
  const mask = BigInt(`0x${new RegExp(`^${field}:\\s*(\\w+)`, 'm').exec(status)?.[1]}`);
  return ((mask >> BigInt(signal - 1)) & 1n) === 1n;
}

const signals = suite('signals of this process');

signals('are all blocked for as long as asked for', () => {
  const inside = withSignalsBlocked(() => [has('SigBlk', SIGUSR2), has('SigBlk', SIGURG)]);
  assert.equal(inside, [true, true]);
  assert.equal([has('SigBlk', SIGUSR2), has('SigBlk', SIGURG)], [false, false]);
});

signals('end the process at once from then on, until their listeners are put back', () => {
  const listener = () => {};
  process.on('SIGUSR2', listener).on('SIGWINCH', listener);
  const restore = endBySignals([SIGUSR2]);
  const inside = [has('SigCgt', SIGUSR2), has('SigCgt', SIGWINCH)];
  restore();
  assert.equal([...inside, has('SigCgt', SIGUSR2)], [false, true, true]);
  process.off('SIGUSR2', listener).off('SIGWINCH', listener);
});

signals('that wait are forgotten when asked for', () => {
  const waiting = withSignalsBlocked(() => {
    tryInt('raise', SIGUSR2); // to this very thread
    const before = has('SigPnd', SIGUSR2);
    dropPending(SIGUSR2);
    return [before, has('SigPnd', SIGUSR2)];
  });
  assert.equal(waiting, [true, false]);
});

signals('can be ignored', () => {
  ignoreSignal(SIGURG);
  assert.ok(has('SigIgn', SIGURG));
});

signals('are reset as a program expects them, and put back', () => {
  const listener = () => {};
  process.on('SIGUSR2', listener);
  assert.ok(has('SigIgn', SIGPIPE)); // by Node
  const restore = resetSignals();
  const reset = [has('SigIgn', SIGPIPE), has('SigCgt', SIGUSR2)];
  restore();
  assert.equal(reset, [false, false]);
  assert.ok(has('SigIgn', SIGPIPE));
  assert.ok(has('SigCgt', SIGUSR2));
  process.off('SIGUSR2', listener);
});

signals('that are blocked are let through by a reset', () => {
  const blocked = withSignalsBlocked(() => {
    resetSignals()();
    return has('SigBlk', SIGUSR2);
  });
  assert.is(blocked, false);
});

signals.run();
