import { spawn, spawnSync } from 'node:child_process';
import { waitFor } from '../../../../support/wait-for.ts';
import { attack, startAttack } from './attack.ts';
import type { Scene, Watched } from './scene.ts';

export interface FloodRecord {
  readonly attempts: number;
  readonly reported: number;
  readonly lost: number;
  readonly tier: number | undefined;
  readonly failures: number;
  /** Hits of one attempt when the flood is over. */
  readonly reportedAfter: number;
}

const nobody = 65_534;
const each = 25_000;

/** More hits than the ring holds, by processes without rights: while nobody takes them out, and while somebody does. */
export async function flood(scene: Scene): Promise<FloodRecord> {
  const watched = await scene.fresh('flood');
  const { guard } = watched;
  const victim = spawn('/bin/cat', [], { uid: nobody, gid: nobody, stdio: ['pipe', 'ignore', 'ignore'] });
  const pid = victim.pid as number;
  guard.protect(pid);
  const args = ['--pid', String(pid), '--path', 'environ', '--each', String(each)];
  // the guard's own loop stands still meanwhile
  spawnSync(scene.bypass, ['attack', 'flood', ...args]);
  await attackUntilOver(scene, args);
  const all = 4 * each;
  await waitFor('all to be told', () => told(watched, pid) >= all, { timeoutMs: 20_000 }).catch(() => {});
  const [reported, lost] = [hitsOn(watched, pid), watched.tallies?.hits_lost ?? 0];
  await attack(scene, 'hold', ['--path', `/proc/${pid}/environ`]);
  await waitFor('the hit', () => hitsOn(watched, pid) > reported, { timeoutMs: 5_000 }).catch(() => {});
  const reportedAfter = hitsOn(watched, pid) - reported;
  const [tier, failures] = [guard.status.tier, watched.logged('guard.canary.failed')];
  victim.kill();
  await guard.close();
  return { attempts: all, reported, lost, tier, failures, reportedAfter };
}

async function attackUntilOver(scene: Scene, args: readonly string[]): Promise<void> {
  const flooding = await startAttack(scene, 'flood', args);
  await flooding.next();
  flooding.close();
}

const hitsOn = ({ hits }: Watched, pid: number) => hits.filter(({ target }) => target.pid === pid).length;

const told = (watched: Watched, pid: number) => hitsOn(watched, pid) + (watched.tallies?.hits_lost ?? 0);
