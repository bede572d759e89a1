import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { syscallName } from '../../../../src/plugins/agent/access-events.ts';

const test = suite('syscallName');

test('reads a number as the architecture has it', () => {
  for (const [name, x64, arm64] of [
    ['openat', 257, 56],
    ['read', 0, 63],
    ['ptrace', 101, 117],
    ['process_vm_readv', 310, 270],
    ['pidfd_getfd', 438, 438],
    ['perf_event_open', 298, 241],
    ['prlimit64', 302, 261],
    ['io_uring_enter', 426, 426],
  ] as const) {
    assert.is(syscallName(x64, 'x64'), name);
    assert.is(syscallName(arm64, 'arm64'), name);
  }
});

test('does not guess: numbers that lead to no hit, calls that an architecture lacks, other architectures', () => {
  assert.is(syscallName(2, 'x64'), 'open');
  assert.is(syscallName(2, 'arm64'), 'io_submit');
  assert.is(syscallName(39, 'x64'), undefined);
  assert.is(syscallName(4_294_967_295, 'x64'), undefined);
  assert.is(syscallName(257, 'ia32'), undefined);
});

test.run();
