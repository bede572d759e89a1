import { type Bench, createBench } from './bench.ts';
import { type CollateralRecord, collateral } from './collateral.ts';
import { type ContainersRecord, containers } from './containers.ts';
import { type CoreRecord, cores } from './cores.ts';
import { type FallbackRecord, fallback } from './fallback.ts';
import { type ForksRecord, forks } from './forks.ts';
import { type FullRecord, fullTable } from './full.ts';
import { type KeysRecord, keys } from './keys.ts';
import type { AgentMode, Machine } from './machine.ts';
import { type DamageName, type LeftRecord, leaveTier, type RepairRecord, repair } from './repair.ts';
import { type RestartPlan, type RestartRecord, restartUnderFire } from './restart.ts';

/** What is tried with an agent of its own, and what is tried one after the other with the same. */
export type Phase =
  | { readonly phase: 'fallback'; readonly mode: AgentMode }
  | { readonly phase: 'restart'; readonly plan: RestartPlan }
  | { readonly phase: 'repair'; readonly mode: AgentMode; readonly damages: readonly DamageName[] }
  | { readonly phase: 'leave'; readonly mode: AgentMode; readonly object: string }
  | {
      readonly phase: 'together';
      readonly name: string;
      readonly mode: AgentMode;
      readonly steps: readonly Step[];
    };

export type Step = 'collateral' | 'containers' | 'cores' | 'keys' | 'full' | { readonly forks: number };

export interface Plan {
  readonly machine: Machine;
  readonly phases: readonly Phase[];
}

/** What came of everything, by the name of its phase or step. */
export interface Records {
  readonly fallback: FallbackRecord;
  readonly restart: RestartRecord;
  readonly repair: RepairRecord;
  readonly leave: LeftRecord;
  readonly collateral: CollateralRecord;
  readonly containers: ContainersRecord;
  readonly cores: CoreRecord;
  readonly keys: KeysRecord;
  readonly forks: ForksRecord;
  readonly full: FullRecord;
  readonly secrecy: SecrecyRecord;
}

export interface SecrecyRecord {
  /** Characters that were searched, and how many markers for. */
  readonly searched: number;
  readonly markers: number;
  readonly found: number;
}

export type DriverRecord = {
  [Name in keyof Records]: { readonly name: Name; readonly of: string; readonly record: Records[Name] };
}[keyof Records];

type Tell = (record: DriverRecord) => void;

/** Each phase has a bench of its own, whose agents' output is searched for secrets when it is over. */
export async function carryOut({ machine, phases }: Plan, tell: Tell): Promise<void> {
  for (const [index, phase] of phases.entries()) {
    const bench = createBench({ ...machine, bpf: `${machine.bpf}/${index}` });
    const of = phase.phase === 'together' ? phase.name : phase.phase;
    const began = performance.now();
    try {
      await carryOutPhase(bench, phase, of, tell);
      bench.hear(await bench.agent.metrics().catch(() => ''));
      tell({ name: 'secrecy', of, record: search(bench) });
    } finally {
      await bench.close();
      process.stderr.write(`${of}: ${Math.round(performance.now() - began)} ms\n`);
    }
  }
}

async function carryOutPhase(bench: Bench, phase: Phase, of: string, tell: Tell): Promise<void> {
  switch (phase.phase) {
    case 'fallback':
      return tell({ name: 'fallback', of, record: await fallback(bench, phase.mode) });
    case 'restart':
      return tell({ name: 'restart', of, record: await restartUnderFire(bench, phase.plan) });
    case 'repair':
      return tell({ name: 'repair', of, record: await repair(bench, phase.mode, phase.damages) });
    case 'leave':
      return tell({ name: 'leave', of, record: await leaveTier(bench, phase.mode, phase.object) });
    case 'together':
      await bench.start(phase.mode);
      for (const step of phase.steps) tell(await carryOutStep(bench, step, of));
  }
}

async function carryOutStep(bench: Bench, step: Step, of: string): Promise<DriverRecord> {
  if (typeof step === 'object') return { name: 'forks', of, record: await forks(bench, step.forks) };
  switch (step) {
    case 'collateral':
      return { name: step, of, record: await collateral(bench) };
    case 'containers':
      return { name: step, of, record: await containers(bench) };
    case 'cores':
      return { name: step, of, record: await cores(bench) };
    case 'keys':
      return { name: step, of, record: await keys(bench) };
    case 'full':
      return { name: step, of, record: await fullTable(bench) };
  }
}

function search(bench: Bench): SecrecyRecord {
  const heard = bench.heard();
  const markers = bench.markers();
  const found = markers.filter((marker) => heard.includes(marker)).length;
  return { searched: heard.length, markers: markers.length, found };
}
