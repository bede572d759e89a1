import { startAttack } from './attack.ts';
import type { Scene } from './scene.ts';

export interface DecoysRecord {
  readonly killed: number;
  /** Once it was started, and at the end. */
  readonly tiers: readonly (number | undefined)[];
  readonly failures: number;
}

const times = 10;

/** Somebody kills each decoy that the guard starts, from before it has chosen a tier on. */
export async function decoys(scene: Scene): Promise<DecoysRecord> {
  const args = ['--agent', process.pid, '--times', times, '--pause', '250ms'];
  const killer = await startAttack(scene, 'kill-decoys', args);
  await killer.next();
  const { guard, logged } = await scene.fresh('decoys');
  const first = guard.status.tier;
  const { killed } = await killer.next<{ killed: number }>();
  killer.close();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const record = { killed, tiers: [first, guard.status.tier], failures: logged('guard.canary.failed') };
  await guard.close();
  return record;
}

export interface TakeoverRecord {
  readonly first: number | undefined;
  readonly second: number | undefined;
  /** Sets of programs that are left. */
  readonly perCall: number;
}

/** One guard leaves tier 2 behind, and the next one may have tier 1. */
export async function takeover(scene: Scene): Promise<TakeoverRecord> {
  const one = await scene.fresh('takeover', { tiers: [2] });
  await one.guard.close();
  const other = await scene.fresh('takeover', { tiers: [1, 2] });
  const perCall = other.attached().filter((name) => name === 'file_open').length;
  await other.guard.close();
  return { first: one.guard.status.tier, second: other.guard.status.tier, perCall };
}
