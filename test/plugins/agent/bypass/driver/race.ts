import { join } from 'node:path';
import { hammer } from '../../../../support/bypass/load.ts';
import { spin } from '../../../../support/bypass/spin.ts';
import { startAgentSession } from './agent-session.ts';
import type { AgentMode, Machine } from './plan.ts';
import { prepareVictim } from './prepare.ts';
import type { Session } from './session.ts';
import { unprotected } from './unprotected.ts';

type Counts = Readonly<Record<'attempts' | 'leaked' | 'denied' | 'failed' | 'killed', number>>;

/** What readers got that race against their end. */
export interface Race {
  readonly kind: 'race';
  readonly tier: number;
  /** Of readers that open and read, a process each. */
  readonly readers: Counts;
  /** Of readers with threads that read the descriptor before its opening has returned. */
  readonly spinners: Counts;
  /** Hits by `road outcome`. */
  readonly counted: Readonly<Record<string, number>>;
}

/** Races against an agent; without a mode there is none, and every reader wins. */
export async function runRace(machine: Machine, count: number, mode?: AgentMode): Promise<Race> {
  const session: Session =
    mode === undefined ? unprotected : await startAgentSession(machine, join(machine.bpf, 'race'), mode);
  try {
    const place = await session.place();
    await place.protect();
    const { process: victim, facts } = await prepareVictim(machine.bypass, { needs: [] }, place);
    const target = { pid: facts.pid, marker: facts.marker };
    const readers = await (await hammer(machine.bypass, { ...target, spawn: true, count })).end();
    const spinners = await spin(machine.bypass, target, count);
    const counted = await session.counted();
    await victim.kill();
    await place.end();
    return { kind: 'race', tier: session.facts.tier, readers, spinners, counted };
  } finally {
    await session.close();
  }
}
