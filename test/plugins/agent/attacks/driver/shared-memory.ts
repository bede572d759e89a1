import { newMarker } from '../../../../support/bypass/victim.ts';
import { type AttackOutcome, outcomeOf, startAttack } from './attack.ts';
import type { Scene } from './scene.ts';

export interface SharedMemoryRecord {
  /** With nobody covered. */
  readonly unprotected: AttackOutcome;
  readonly outcome: AttackOutcome;
  /** What the guard says of a process that is covered now. */
  readonly openedBefore: boolean | undefined;
  readonly reported: number;
}

type Sharer = 'thread' | 'child';

/** Memory that was opened by a thread, or by a child that shares it, which is gone when the process is covered. */
export async function sharedMemory(scene: Scene, sharer: Sharer): Promise<SharedMemoryRecord> {
  const { guard, hits } = await scene.shared();
  let openedBefore: boolean | undefined;
  const unprotected = await readAfter(scene, sharer, () => {});
  const before = hits.length;
  const outcome = await readAfter(scene, sharer, (pid) => {
    openedBefore = guard.protect(pid).openedBefore;
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  const reported = hits.slice(before).filter(({ road }) => road === 'open_descriptor').length;
  return { unprotected, outcome, openedBefore, reported };
}

async function readAfter(scene: Scene, sharer: Sharer, then: (pid: number) => void): Promise<AttackOutcome> {
  const marker = newMarker();
  const victim = await startAttack(scene, 'share', ['--with', sharer], { BYPASS_SECRET: marker });
  const { pid, other, address } = await victim.next<{ pid: number; other: number; address: number }>();
  const path = sharer === 'thread' ? `/proc/${pid}/task/${other}/mem` : `/proc/${other}/mem`;
  const holder = await startAttack(scene, 'hold', ['--path', path, '--address', address, '--marker', marker]);
  await holder.next();
  victim.send('end it');
  await victim.next();
  then(pid);
  holder.send('read');
  const outcome = await outcomeOf(holder);
  await victim.kill();
  return outcome;
}
