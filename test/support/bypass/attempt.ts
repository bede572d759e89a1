import { type LineProcess, startLineProcess } from './line-process.ts';
import type { AttemptOptions, RoadEntry, RoadResult, VictimFacts } from './types.ts';

/** What an attacker has to know; roads by path need no more than this. */
export type Target = Pick<VictimFacts, 'pid' | 'marker'> & Partial<VictimFacts>;

/** An attacker whose first phase is over. */
export interface Armed {
  /** Whom it attacks, where it started the victim itself. */
  readonly victim?: VictimFacts;
  /** The second phase, with newer facts if the victim has executed something since. */
  finish(facts?: VictimFacts): Promise<RoadResult>;
  end(): Promise<void>;
}

/** The program's table of roads. */
export async function listRoads(program: string): Promise<RoadEntry[]> {
  const child = await startLineProcess(program, ['roads']);
  const roads: RoadEntry[] = [];
  for (let entry = await read(); entry !== undefined; entry = await read()) roads.push(entry);
  return roads;

  function read(): Promise<RoadEntry | undefined> {
    return child.nextOrEnd<RoadEntry>();
  }
}

/** One attempt on a road of one phase. */
export async function tryRoad(
  program: string,
  road: string,
  target: Target,
  options: AttemptOptions = {},
): Promise<RoadResult> {
  const attacker = await startAttacker(program, road, target, options);
  return resultOf(road, attacker, await attacker.nextOrEnd<RoadResult>());
}

/** The first phase of a road of two. Where it fails already, `finish` yields that. */
export async function armRoad(program: string, road: string, target: Target): Promise<Armed> {
  const attacker = await startAttacker(program, road, target, {});
  const first = await attacker.nextOrEnd<{ armed?: true; victim?: VictimFacts } & RoadResult>();
  return {
    ...(first?.victim ? { victim: first.victim } : {}),
    async finish(facts) {
      if (!first?.armed) return resultOf(road, attacker, first);
      attacker.send(facts ? JSON.stringify(facts) : 'go');
      return resultOf(road, attacker, await attacker.nextOrEnd<RoadResult>());
    },
    async end() {
      await attacker.kill();
    },
  };
}

function startAttacker(program: string, road: string, target: Target, options: AttemptOptions) {
  const args = ['try', road, '--victim-json', JSON.stringify(target)];
  return startLineProcess(program, options.allowCorePattern ? [...args, '--allow-core-pattern'] : args);
}

async function resultOf(road: string, attacker: LineProcess, said?: RoadResult): Promise<RoadResult> {
  attacker.close();
  const { code, signal } = await attacker.exited;
  if (said !== undefined) return said;
  if (signal !== null) return { road, outcome: 'killed', detail: signal };
  throw new Error(`The attacker on the road ${road} ended with ${code} and said nothing`);
}
