import { mkdirSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { newMarker } from '../../../../support/bypass/victim.ts';
import { type AttackOutcome, readEnviron, startAttack } from './attack.ts';
import type { Scene } from './scene.ts';

export interface Lurked {
  readonly children: number;
  /** Processes that the lurker read, or might have. */
  readonly leaked: number;
  readonly seen: number;
  readonly denied: number;
  /** Lurkers that the guard killed. */
  readonly killed: number;
}

export interface FormingRecord {
  readonly unprotected: Lurked;
  readonly covered: Lurked;
}

/** Somebody tries each child from the moment that it can be seen, which counts as another's who is not covered. */
export async function forming(scene: Scene, ms: number, how: readonly string[] = []): Promise<FormingRecord> {
  const { guard } = await scene.shared();
  const unprotected = await unguarded(scene, how);
  return { unprotected, covered: await lurk(scene, ms, how, (pid) => void guard.protect(pid)) };
}

/** Until the lurker had luck once, which takes a while on a busy machine. */
async function unguarded(scene: Scene, how: readonly string[]): Promise<Lurked> {
  for (let left = 20; ; left--) {
    const lurked = await lurk(scene, 1_500, how, () => {});
    if (lurked.leaked > 0 || left === 0) return lurked;
  }
}

async function lurk(
  scene: Scene,
  ms: number,
  how: readonly string[],
  before: (pid: number) => void,
): Promise<Lurked> {
  const marker = newMarker();
  const breeder = await startAttack(scene, 'breed', ['--marker', marker]);
  const { pid } = await breeder.next<{ pid: number }>();
  before(pid);
  const until = performance.now() + ms;
  breeder.send('breed');
  const total = { leaked: 0, seen: 0, denied: 0, killed: 0 };
  while (performance.now() < until) add(total, await lurkOnce(scene, ['--marker', marker, ...how], until));
  breeder.close();
  return { ...total, ...(await breeder.next<{ children: number }>()) };
}

type Counts = Omit<Lurked, 'children'>;

function add(total: Record<keyof Counts, number>, counts: Counts): void {
  for (const name of Object.keys(counts) as (keyof Counts)[]) total[name] += counts[name];
}

/** One lurker, until then or until it is killed. */
async function lurkOnce(scene: Scene, args: readonly string[], until: number): Promise<Counts> {
  const lurker = await startAttack(scene, 'lurk', args);
  await lurker.next();
  const timer = setTimeout(() => lurker.close(), until - performance.now());
  for (let leaked = 0; ; ) {
    const said = await lurker.nextOrEnd<{ got: number } | { seen: number; denied: number }>();
    if (said !== undefined && 'got' in said) leaked += 1;
    else {
      clearTimeout(timer);
      lurker.close();
      return { leaked, ...(said ?? { seen: 0, denied: 0 }), killed: said === undefined ? 1 : 0 };
    }
  }
}

export interface MigratedRecord {
  /** By its cgroup alone. */
  readonly parentCovered: boolean | undefined;
  readonly childCovered: boolean | undefined;
  readonly outcome: AttackOutcome;
}

const cgroups = ['/sys/fs/cgroup/covered', '/sys/fs/cgroup/elsewhere'] as const;

/** A process that only its cgroup covers makes a child straight into another one. */
export async function migrated(scene: Scene): Promise<MigratedRecord> {
  const { guard } = await scene.shared();
  const [covered, elsewhere] = cgroups;
  for (const path of cgroups) mkdirSync(path);
  const marker = newMarker();
  const process = await startAttack(scene, 'migrate', ['--cgroup', elsewhere], { BYPASS_SECRET: marker });
  const { pid } = await process.next<{ pid: number }>();
  writeFileSync(`${covered}/cgroup.procs`, String(pid));
  const id = statSync(covered, { bigint: true }).ino;
  guard.protectCgroup(id);
  process.send('clone');
  const { child } = await process.next<{ child: number }>();
  const record = {
    parentCovered: guard.inspect(pid)?.covered,
    childCovered: guard.inspect(child)?.covered,
    outcome: await readEnviron(scene, { pid: child, marker }),
  };
  process.close();
  await process.exited;
  guard.releaseCgroup(id);
  for (const path of cgroups) rmdirSync(path);
  return record;
}
