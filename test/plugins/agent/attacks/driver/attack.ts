import { tryAccessPath } from '../../../../support/bypass/attempt.ts';
import { type LineProcess, startLineProcess } from '../../../../support/bypass/line-process.ts';
import { newMarker } from '../../../../support/bypass/victim.ts';
import type { Plan } from './scene.ts';

/** What came of an attack: what the kernel said, `done`, or `killed`. */
export type AttackOutcome = string;

interface Said {
  readonly outcome?: string;
  readonly done?: boolean;
  readonly errno?: string;
}

export const startAttack = (
  { bypass }: Plan,
  name: string,
  args: readonly (string | number)[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<LineProcess> => startLineProcess(bypass, ['attack', name, ...args.map(String)], env);

/** One that says what came of it, and ends. */
export async function attack(
  plan: Plan,
  name: string,
  args: readonly (string | number)[] = [],
): Promise<AttackOutcome> {
  return outcomeOf(await startAttack(plan, name, args));
}

/** The last thing that it says. */
export async function outcomeOf(attacker: LineProcess): Promise<AttackOutcome> {
  const said = await attacker.nextOrEnd<Said>();
  attacker.close();
  const { code, signal } = await attacker.exited;
  if (said === undefined) return signal === 'SIGKILL' ? 'killed' : `ended with ${signal ?? code}`;
  return said.outcome ?? said.errno ?? (said.done ? 'done' : 'failed');
}

export interface Victim {
  readonly process: LineProcess;
  readonly pid: number;
  readonly marker: string;
}

/** A process with a secret in its environment. */
export async function startVictim({ bypass }: Plan, args: readonly string[] = []): Promise<Victim> {
  const marker = newMarker();
  const process = await startLineProcess(bypass, ['victim', ...args], { BYPASS_SECRET: marker });
  await process.next();
  return { process, pid: process.pid, marker };
}

/** What the plainest attempt comes to. */
export const readEnviron = async (
  { bypass }: Plan,
  target: { pid: number; marker: string },
): Promise<AttackOutcome> => (await tryAccessPath(bypass, 'environ', target)).outcome;
