import { suite } from 'uvu';
import { repetitions } from '../../../support/repetitions.ts';
import type { Phase } from './driver/plan.ts';
import { judgeRepairs } from './judge-repair.ts';
import { judgeReader, judgeRestarts } from './judge-restart.ts';
import { judgeSecrecy } from './judge-secrecy.ts';
import { judgeForks, judgeKeys } from './judge-tables.ts';
import { runHere } from './native.ts';
import { type Told, toldBy } from './records.ts';

/** Tier 3 with reactiveKill, which this machine's own kernel gives. */
export const idle = true;

const test = suite('agents that come and go on tier 3, and its tables');

const mode = { tiers: [3], kill: true } as const;
const restarts = [
  { signal: 'SIGKILL', mode },
  { signal: 'SIGKILL', mode, newcomer: true },
  { signal: 'SIGTERM', mode },
] as const;
const children = repetitions(3_000, 10_000);
const phases: readonly Phase[] = [
  { phase: 'restart', plan: { mode, hertz: 50, spawn: true, restarts } },
  { phase: 'repair', mode, damages: ['enforce', 'kill', 'agent', 'generation', 'decoy', 'pins'] },
  { phase: 'together', name: 'tables', mode, steps: ['keys', { forks: children }] },
];

let told: Told;
test.before(async () => {
  told = toldBy(await runHere(phases));
});

test('no reader gets anything while agents are killed, ended and started', () =>
  judgeReader(told.of('restart'), 'killed'));

test('what was covered stays so, what is forked meanwhile is, and who registers waits', () =>
  judgeRestarts(told.of('restart'), ['3', '3', '3'], 'killed'));

test('damage is put right', () =>
  judgeRepairs(told.of('repair'), [
    ...['settings.enforce', 'settings.kill', 'settings.agent', 'settings.generation', 'decoy', 'pins'],
  ]));

test('numbers that come again, threads that execute and leaders that end', () =>
  judgeKeys(told.of('keys'), 'killed'));

test('short-lived children leave next to nothing behind', () => judgeForks(told.of('forks'), children / 100));

for (const phase of ['restart', 'repair', 'tables'])
  test(`nothing that agents write or expose shows an environment: ${phase}`, () =>
    judgeSecrecy(told.of('secrecy', phase)));

test.run();
