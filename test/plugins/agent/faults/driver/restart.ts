import { linkFolders } from '../../../../../src/plugins/agent/guard/program-set.ts';
import { hammer } from '../../../../support/bypass/load.ts';
import type { HammerResult, VictimFacts } from '../../../../support/bypass/types.ts';
import { startVictim } from '../../../../support/bypass/victim.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { ask } from '../../bypass/driver/prepare.ts';
import type { Refused } from '../../bypass/driver/registrar-lines.ts';
import type { RegistrarPlace } from '../../bypass/driver/registrar-place.ts';
import { metric, whileAway } from './agent.ts';
import { attempt } from './attempts.ts';
import type { Bench, Covered } from './bench.ts';
import type { AgentMode } from './machine.ts';
import { coveredPids } from './tables.ts';

export interface Restart {
  readonly signal: 'SIGKILL' | 'SIGTERM';
  /** How the next agent behaves. */
  readonly mode: AgentMode;
  /** Somebody registers while no agent is there. */
  readonly newcomer?: true;
}

export interface RestartRecord {
  readonly tier: string;
  /** Attempts on a process that nobody protects: the reader does read. */
  readonly unprotected: HammerResult;
  /** Of one reader, from before the first end of an agent until after the last start. */
  readonly reader: HammerResult;
  readonly restarts: readonly Restarted[];
}

export interface Restarted {
  readonly signal: string;
  /** Of the agent that came after. */
  readonly tier: string;
  /** What the table of processes lost of what was in it before. */
  readonly forgotten: readonly number[];
  /** A child that was forked while no agent was there: read at once, and when one was there again. */
  readonly childAway: string;
  readonly childAfter: string;
  /** An attempt by another attack path while no agent was there, and whether the next one reported it. */
  readonly attackAway: string;
  readonly reportedAfter: number;
  /** A process that asked to be registered while no agent was there. */
  readonly late?: { readonly answeredAway: boolean; readonly refusal?: string; readonly covered: boolean };
  /** Folders of pinned links that are left. */
  readonly sets: number;
  /** From the end of one agent to the start-up line of the next. */
  readonly awayMs: number;
}

export interface RestartPlan {
  readonly mode: AgentMode;
  readonly restarts: readonly Restart[];
  /** Attempts a second; each by a process of its own where readers are killed. */
  readonly hertz: number;
  readonly spawn: boolean;
}

/** Agents come and go while somebody reads without a pause. */
export async function restartUnderFire(bench: Bench, plan: RestartPlan): Promise<RestartRecord> {
  const { machine } = bench;
  const { listening } = await bench.start(plan.mode);
  const unprotected = await readUnprotected(bench, plan);
  const covered = await bench.covered();
  const { pid, marker } = covered.facts;
  const reader = await hammer(machine.bypass, { pid, marker, hertz: plan.hertz, spawn: plan.spawn });
  const restarts: Restarted[] = [];
  for (const restart of plan.restarts) restarts.push(await restartOnce(bench, covered, restart));
  return { tier: String(listening['tier']), unprotected, reader: await reader.end(), restarts };
}

async function readUnprotected({ machine }: Bench, { spawn }: RestartPlan): Promise<HammerResult> {
  const victim = await startVictim(machine.bypass);
  const { pid, marker } = victim.facts;
  const reader = await hammer(machine.bypass, { pid, marker, hertz: 100, spawn, count: 10 });
  const result = await reader.end();
  await victim.end();
  return result;
}

async function restartOnce(bench: Bench, { victim }: Covered, restart: Restart): Promise<Restarted> {
  const { machine } = bench;
  const before = coveredPids(machine).filter((pid) => isThere(pid));
  const newcomer = restart.newcomer && (await bench.place());
  await bench.agent.kill(restart.signal);
  const left = performance.now();
  const registration = newcomer && register(newcomer);
  const parent = victim.facts;
  const child = await ask<VictimFacts>(victim.process, 'fork');
  const target = { pid: child.child as number, marker: parent.marker };
  const childAway = await attempt(machine, target);
  const attackAway = await attempt(machine, parent, 'process-vm-readv');
  await whileAway();
  const answeredAway = registration?.isAnswered() ?? false;
  const agent = await bench.start(restart.mode);
  const awayMs = Math.round(performance.now() - left);
  const refused = await registration?.answer;
  const reportedAfter = await reported(bench);
  const after = coveredPids(machine);
  const late = newcomer && { answeredAway, covered: after.includes(newcomer.pid), ...refusalOf(refused) };
  return {
    ...{ signal: restart.signal, tier: String(agent.listening['tier']), childAway, attackAway, awayMs },
    forgotten: before.filter((pid) => isThere(pid) && !after.includes(pid)),
    childAfter: await attempt(machine, target),
    reportedAfter,
    ...(late === undefined ? {} : { late }),
    sets: linkFolders(machine.bpf).length,
  };
}

/** A wrapper waits for half a minute; an emulated agent may take longer to come. */
const tries = 6;

function register(newcomer: RegistrarPlace) {
  let answered = false;
  const ask = async (left: number): Promise<Refused | undefined> => {
    const refused = await newcomer.protect();
    return refused === undefined || left === 0 ? refused : ask(left - 1);
  };
  const answer = ask(tries).finally(() => {
    answered = true;
  });
  return { answer, isAnswered: () => answered };
}

const refusalOf = (refused: Refused | undefined) =>
  refused === undefined ? {} : { refusal: refused.message };

/** Attempts by process_vm_readv that the agent of now knows of; nobody made one since it came. */
async function reported({ agent }: Bench): Promise<number> {
  const count = async () =>
    (await metric(agent, 'svc_agent_hits_total{road="process_vm",outcome="denied"}')) +
    (await metric(agent, 'svc_agent_hits_total{road="process_vm",outcome="killed"}'));
  return waitFor('the attempt to be reported', count, { timeoutMs: 10_000 }).catch(() => 0);
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
