import { type LineProcess, startLineProcess } from '../../../../support/bypass/line-process.ts';
import type { AccessPathResult, VictimFacts } from '../../../../support/bypass/types.ts';
import { newMarker } from '../../../../support/bypass/victim.ts';
import type { Machine } from './plan.ts';
import type { AttemptRecord } from './records.ts';

/** What came of an attempt, before anybody knows what was reported of it. */
export type Attempt = Omit<AttemptRecord, 'kind' | 'phase' | 'hits'>;

/** An attacker whose first phase is over. */
export interface Armed {
  readonly pid: number;
  /** Of the victim that it started itself. */
  readonly own?: VictimFacts;
  /** The second phase. */
  go(): void;
  result(targets: readonly number[]): Promise<Attempt>;
  end(): Promise<void>;
}

type Start = (program: string, args: readonly string[]) => Promise<LineProcess>;

/** One attempt on an attack path of one phase. */
export async function attack(machine: Machine, path: string, victim: object, targets: readonly number[]) {
  const attacker = await startAttacker(startLineProcess, machine, path, victim);
  return outcomeOf(path, attacker, targets, await attacker.nextOrEnd<AccessPathResult>());
}

/** The first phase of an attack path of two; of those that start their victim themselves, where `start` does. */
export async function arm(
  machine: Machine,
  path: string,
  victim: object = { marker: newMarker() },
  start: Start = startLineProcess,
): Promise<Armed> {
  const attacker = await startAttacker(start, machine, path, victim);
  const first = await attacker.nextOrEnd<{ armed?: true; victim?: VictimFacts } & AccessPathResult>();
  return {
    pid: attacker.pid,
    ...(first?.victim ? { own: first.victim } : {}),
    go: () => attacker.send('go'),
    async result(targets) {
      const last = first?.armed ? await attacker.nextOrEnd<AccessPathResult>() : first;
      return outcomeOf(path, attacker, targets, last);
    },
    async end() {
      await attacker.kill();
    },
  };
}

function startAttacker(start: Start, machine: Machine, path: string, victim: object): Promise<LineProcess> {
  const args = ['try', path, '--victim-json', JSON.stringify(victim)];
  return start(machine.bypass, machine.own ? [...args, '--allow-core-pattern'] : args);
}

async function outcomeOf(
  path: string,
  attacker: LineProcess,
  targets: readonly number[],
  said: AccessPathResult | undefined,
): Promise<Attempt> {
  attacker.close();
  const { signal } = await attacker.exited;
  const facts = { path, attacker: attacker.pid, targets };
  // throws with what it wrote to its standard error
  if (said === undefined && signal === null) await attacker.next();
  if (said === undefined) return { ...facts, outcome: 'killed', detail: String(signal) };
  const { outcome, errno, detail } = said;
  return { ...facts, outcome, detail, ...(errno === undefined ? {} : { errno }) };
}
