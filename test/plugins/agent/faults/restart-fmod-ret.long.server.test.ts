import { suite } from 'uvu';
import { WITHOUT_BPF } from '../../../support/vm/types.ts';
import type { Phase } from './driver/plan.ts';
import { judgeFallback } from './judge-fallback.ts';
import { judgeRepairs } from './judge-repair.ts';
import { judgeReader, judgeRestarts } from './judge-restart.ts';
import { judgeSecrecy } from './judge-secrecy.ts';
import { type Told, toldBy } from './records.ts';
import { runInVm, timeoutOfFile } from './vm.ts';

export const timeout = timeoutOfFile;

/** A virtual machine without BPF among its security modules. */
const test = suite('agents that come and go on tier 2');

const restarts = [
  { signal: 'SIGKILL', mode: {}, newcomer: true },
  { signal: 'SIGTERM', mode: {} },
] as const;
const phases: readonly Phase[] = [
  { phase: 'fallback', mode: {} },
  { phase: 'restart', plan: { mode: {}, hertz: 1000, spawn: false, restarts } },
  { phase: 'repair', mode: {}, damages: ['enforce', 'decoy', 'pins'] },
];

let told: Told;
test.before(async () => {
  told = toldBy(await runInVm(phases, { lsm: WITHOUT_BPF }));
});

test('tier 1 loads, does not work, and is left for tier 2', () => judgeFallback(told.of('fallback')));

test('a reader at 1 kHz gets nothing through all of it', () => judgeReader(told.of('restart'), 'denied'));

test('what was covered stays so, what is forked meanwhile is, and who registers waits', () =>
  judgeRestarts(told.of('restart'), ['2', '2'], 'denied'));

test('damage is put right', () => judgeRepairs(told.of('repair'), ['settings.enforce', 'decoy', 'pins']));

for (const phase of ['fallback', 'restart', 'repair'])
  test(`nothing that agents write or expose shows an environment: ${phase}`, () =>
    judgeSecrecy(told.of('secrecy', phase)));

test.run();
