import { constants } from 'node:os';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeStatus, signalNumber, waitAny } from '../../../src/runtime/native/processes.ts';

const wait = suite('wait');

wait('decodes what the kernel says about a child', () => {
  assert.equal(decodeStatus(9, 0), { pid: 9, kind: 'exited', code: 0 });
  assert.equal(decodeStatus(9, 255 << 8), { pid: 9, kind: 'exited', code: 255 });
  assert.equal(decodeStatus(9, 15), { pid: 9, kind: 'killed', signal: 'SIGTERM' });
  assert.equal(decodeStatus(9, 0x80 | 11), { pid: 9, kind: 'killed', signal: 'SIGSEGV' }); // with a core dump
  assert.equal(decodeStatus(9, 0x7f | (20 << 8)), { pid: 9, kind: 'stopped', signal: 'SIGTSTP' });
  assert.equal(decodeStatus(9, 0xffff), { pid: 9, kind: 'continued' });
  assert.equal(decodeStatus(9, 34), { pid: 9, kind: 'killed', signal: 'SIG34' });
});

wait('knows every signal by number and name, the usual name where there are two', () => {
  for (let number = 1; number <= 64; number++) {
    const change = decodeStatus(1, number);
    assert.is(change.kind === 'killed' && signalNumber(change.signal), number);
  }
  assert.equal(decodeStatus(1, constants.signals.SIGABRT), { pid: 1, kind: 'killed', signal: 'SIGABRT' });
  assert.equal(decodeStatus(1, constants.signals.SIGIO), { pid: 1, kind: 'killed', signal: 'SIGIO' });
});

wait('says when there is no child at all', () => {
  assert.is(waitAny(), 'childless');
});

wait.run();
