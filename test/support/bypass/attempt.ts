import { type LineProcess, startLineProcess } from './line-process.ts';
import type { AccessPathEntry, AccessPathResult, AttemptOptions, VictimFacts } from './types.ts';

/** What an attacker has to know; those that only open a file need no more than this. */
export type Target = Pick<VictimFacts, 'pid' | 'marker'> & Partial<VictimFacts>;

/** An attacker whose first phase is over. */
export interface Armed {
  /** Whom it attacks, where it started the victim itself. */
  readonly victim?: VictimFacts;
  /** The second phase, with newer facts if the victim has executed something since. */
  finish(facts?: VictimFacts): Promise<AccessPathResult>;
  end(): Promise<void>;
}

/** The program's table of attack paths. */
export async function listAccessPaths(program: string): Promise<AccessPathEntry[]> {
  const child = await startLineProcess(program, ['paths']);
  const paths: AccessPathEntry[] = [];
  for (let entry = await read(); entry !== undefined; entry = await read()) paths.push(entry);
  return paths;

  function read(): Promise<AccessPathEntry | undefined> {
    return child.nextOrEnd<AccessPathEntry>();
  }
}

/** One attempt on an attack path of one phase. */
export async function tryAccessPath(
  program: string,
  path: string,
  target: Target,
  options: AttemptOptions = {},
): Promise<AccessPathResult> {
  const attacker = await startAttacker(program, path, target, options);
  return resultOf(path, attacker, await attacker.nextOrEnd<AccessPathResult>());
}

/** The first phase of an attack path of two. Where it fails already, `finish` yields that. */
export async function armAccessPath(program: string, path: string, target: Target): Promise<Armed> {
  const attacker = await startAttacker(program, path, target, {});
  const first = await attacker.nextOrEnd<{ armed?: true; victim?: VictimFacts } & AccessPathResult>();
  return {
    ...(first?.victim ? { victim: first.victim } : {}),
    async finish(facts) {
      if (!first?.armed) return resultOf(path, attacker, first);
      attacker.send(facts ? JSON.stringify(facts) : 'go');
      return resultOf(path, attacker, await attacker.nextOrEnd<AccessPathResult>());
    },
    async end() {
      await attacker.kill();
    },
  };
}

function startAttacker(program: string, path: string, target: Target, options: AttemptOptions) {
  const args = ['try', path, '--victim-json', JSON.stringify(target)];
  return startLineProcess(program, options.allowCorePattern ? [...args, '--allow-core-pattern'] : args);
}

async function resultOf(
  path: string,
  attacker: LineProcess,
  said?: AccessPathResult,
): Promise<AccessPathResult> {
  attacker.close();
  const { code, signal } = await attacker.exited;
  if (said !== undefined) return said;
  if (signal !== null) return { path, outcome: 'killed', detail: signal };
  throw new Error(`The attacker on the attack path ${path} ended with ${code} and said nothing`);
}
