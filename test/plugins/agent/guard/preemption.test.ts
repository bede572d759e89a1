import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { judgePreemption, type PreemptionSources } from '../../../../src/plugins/agent/guard/preemption.ts';

const test = suite('preemption of the kernel');
const dynamic = '#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-10-01)';
const unknown: PreemptionSources = {
  ...{ mode: undefined, scheduler: undefined, config: undefined },
  ...{ commandLine: 'ro quiet', version: dynamic },
};
const possible = (sources: Partial<PreemptionSources>) =>
  judgePreemption({ ...unknown, ...sources }).possible;

test('is what the kernel itself goes by, whatever it was started with', () => {
  const others = { commandLine: 'preempt=full', scheduler: 'none voluntary (full)' };
  assert.is(possible({ ...others, mode: 'none' }), false);
  assert.is(possible({ ...others, mode: 'voluntary' }), false);
  assert.is(possible({ mode: 'full', commandLine: 'preempt=none' }), true);
  assert.is(possible({ mode: 'lazy', commandLine: 'preempt=none' }), true);
});

test('else what the scheduler says', () => {
  const of = (scheduler: string) => possible({ scheduler, commandLine: 'preempt=full' });
  assert.is(of('(none) voluntary full \n'), false);
  assert.is(of('none (voluntary) full\n'), false);
  assert.is(of('none voluntary (full)\n'), true);
  assert.is(of('none voluntary full (lazy)\n'), true);
});

test('else what the command line asks for last', () => {
  const of = (commandLine: string) => possible({ commandLine });
  assert.is(of('quiet preempt=voluntary'), false);
  assert.is(of('preempt=full ro'), true);
  assert.is(of('preempt=none preempt=full'), true);
  assert.is(of('preempt=full preempt=none'), false);
  assert.is(of('preempt=voluntary preempt=wrong'), false);
  assert.is(of('notpreempt=none'), true);
});

test('else what the kernel was built for', () => {
  const of = (config: string) =>
    possible({ config: `CONFIG_PREEMPT_BUILD=y\n${config}\nCONFIG_PREEMPT_COUNT=y\n` });
  assert.is(of('CONFIG_PREEMPT_NONE=y'), false);
  assert.is(of('CONFIG_PREEMPT_VOLUNTARY=y'), false);
  assert.is(of('# CONFIG_PREEMPT_VOLUNTARY is not set\nCONFIG_PREEMPT=y'), true);
  assert.is(of('CONFIG_PREEMPT_LAZY=y'), true);
});

test('else possible', () => {
  assert.is(possible({}), true);
  assert.match(judgePreemption(unknown).because, /mode unknown/);
});

test('cannot be chosen where the kernel was built for one manner', () => {
  const commandLine = 'preempt=none';
  assert.is(possible({ version: '#1 SMP PREEMPT Debian', commandLine }), true);
  assert.is(possible({ version: '#1 SMP PREEMPT_RT', commandLine, mode: 'none' }), true);
  assert.is(possible({ version: '#1 SMP Debian', commandLine: 'preempt=full' }), false);
});

test.run();
