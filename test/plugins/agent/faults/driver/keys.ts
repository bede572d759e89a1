import { reusePid } from '../../../../support/bypass/load.ts';
import type { VictimFacts } from '../../../../support/bypass/types.ts';
import { newMarker } from '../../../../support/bypass/victim.ts';
import { ask } from '../../bypass/driver/prepare.ts';
import { attempt } from './attempts.ts';
import type { Bench } from './bench.ts';
import { coveredStarts } from './tables.ts';

export interface KeysRecord {
  /** A stranger with the PID of a process that was covered: not covered. */
  readonly reusedPid: string;
  readonly reusedCovered: boolean;
  /** After an exec by another thread than the leader. */
  readonly afterThreadExec: string;
  /** After the leader has ended, by the threads that are left; and a child forked by one of these. */
  readonly leaderGone: string;
  readonly childOfLeaderless: string;
}

export async function keys(bench: Bench): Promise<KeysRecord> {
  return { ...(await reuse(bench)), ...(await executeByThread(bench)), ...(await loseLeader(bench)) };
}

async function reuse(bench: Bench) {
  const { machine } = bench;
  const { victim, facts } = await bench.covered();
  const [start] = coveredStarts(machine, facts.pid);
  await victim.process.kill();
  const stranger = await reusePid(machine.bypass, facts.pid, newMarker());
  const reusedPid = await attempt(machine, stranger);
  const reusedCovered = coveredStarts(machine, facts.pid).some((other) => other !== start);
  await stranger.end();
  return { reusedPid, reusedCovered };
}

async function executeByThread({ machine, covered }: Bench) {
  const { victim } = await covered();
  const facts = await ask<VictimFacts>(victim.process, 'exec');
  return { afterThreadExec: await attempt(machine, facts) };
}

async function loseLeader({ machine, covered }: Bench) {
  const { victim, facts } = await covered();
  await ask(victim.process, 'exit-leader');
  const leaderGone = await attempt(machine, facts, 'leader-gone-environ');
  const forked = await ask<VictimFacts>(victim.process, 'fork');
  const child = { pid: forked.child as number, marker: facts.marker };
  return { leaderGone, childOfLeaderless: await attempt(machine, child) };
}
