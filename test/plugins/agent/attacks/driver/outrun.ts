import { startAttack, startVictim } from './attack.ts';
import type { Scene } from './scene.ts';

export interface OutrunRecord {
  readonly watched: boolean;
  readonly tries: number;
  readonly denied: number;
  /** Readers, of which each one made several tries. */
  readonly killed: number;
  readonly leaked: boolean;
  /** Hits that say so. */
  readonly reported: number;
}

/** Readers that the kernel lets run while another process is inside of the guard's program on the same processor. */
export async function outrun(scene: Scene): Promise<OutrunRecord> {
  const { guard, hits, attached } = await scene.shared();
  const [covered, bait] = [await startVictim(scene), await startVictim(scene)];
  guard.protect(covered.pid);
  const { pid, marker } = covered;
  const args = ['--pid', pid, '--marker', marker, '--bait', bait.pid, '--tries', 400];
  const attacker = await startAttack(scene, 'outrun', args);
  const result = await attacker.next<Omit<OutrunRecord, 'watched' | 'reported'>>();
  attacker.close();
  await new Promise((resolve) => setTimeout(resolve, 300));
  const reported = hits.filter(({ outcome, target }) => outcome === 'killed' && target.pid === pid).length;
  for (const { process } of [covered, bait]) await process.kill();
  return { watched: attached().includes('call_not_denied'), ...result, reported };
}
