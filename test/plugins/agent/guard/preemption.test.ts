import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isPreemptible } from '../../../../src/plugins/agent/guard/preemption.ts';

const test = suite('preemption of the kernel');
const dynamic = '#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-10-01)';
const unknown = { scheduler: undefined, commandLine: 'ro quiet', version: '#1 SMP Debian' };

test('is what the scheduler says', () => {
  const commandLine = 'preempt=full';
  const of = (scheduler: string) => isPreemptible({ scheduler, commandLine, version: dynamic });
  assert.is(of('(none) voluntary full \n'), false);
  assert.is(of('none (voluntary) full\n'), false);
  assert.is(of('none voluntary (full)\n'), true);
  assert.is(of('none voluntary full (lazy)\n'), true);
});

test('else what the command line asks for', () => {
  const of = (commandLine: string) => isPreemptible({ ...unknown, commandLine, version: dynamic });
  assert.is(of('quiet preempt=voluntary'), false);
  assert.is(of('preempt=full ro'), true);
  assert.is(of('notpreempt=none'), true);
});

test('else possible where the kernel was built for it', () => {
  assert.is(isPreemptible(unknown), false);
  assert.is(isPreemptible({ ...unknown, version: dynamic }), true);
  assert.is(isPreemptible({ ...unknown, version: '#1 SMP PREEMPT_RT' }), true);
});

test.run();
