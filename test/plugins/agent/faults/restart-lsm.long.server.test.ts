import { suite } from 'uvu';
import type { Phase } from './driver/plan.ts';
import { judgeReader, judgeRestarts } from './judge-restart.ts';
import { judgeSecrecy } from './judge-secrecy.ts';
import { type Told, toldBy } from './records.ts';
import { runInVm, timeoutOfFile } from './vm.ts';

export const timeout = timeoutOfFile;

/** Tier 1 in a virtual machine; another agent's programs take the place of the first one's, and go again. */
const test = suite('agents that come and go on tier 1');

const restarts = [
  { signal: 'SIGKILL', mode: {}, newcomer: true },
  { signal: 'SIGTERM', mode: { tiers: [2] } },
  { signal: 'SIGKILL', mode: {} },
] as const;
const phases: readonly Phase[] = [
  { phase: 'restart', plan: { mode: {}, hertz: 1000, spawn: false, restarts } },
];

let told: Told;
test.before(async () => {
  told = toldBy(await runInVm(phases));
});

test('a reader at 1 kHz gets nothing through all of it', () => judgeReader(told.of('restart'), 'denied'));

test('what was covered stays so, what is forked meanwhile is, and who registers waits', () =>
  judgeRestarts(told.of('restart'), ['1', '2', '1'], 'denied'));

test('nothing that agents write or expose shows an environment', () =>
  judgeSecrecy(told.of('secrecy', 'restart')));

test.run();
