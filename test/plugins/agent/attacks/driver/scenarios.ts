import { asked } from './asked.ts';
import { decoys, takeover } from './decoys.ts';
import { early, givenUp } from './early.ts';
import { flood } from './flood.ts';
import { forming, migrated } from './forming.ts';
import { limitedContainer, limits } from './limits.ts';
import { outrun } from './outrun.ts';
import { samples } from './samples.ts';
import type { Scene } from './scene.ts';
import { sharedMemory } from './shared-memory.ts';

const formingMs = 6_000;

/** By name; those with a guard of their own come first where several are tried. */
export const scenarios = {
  takeover,
  decoys,
  flood,
  early,
  givenUp,
  outrun,
  sharedByThread: (scene: Scene) => sharedMemory(scene, 'thread'),
  sharedByChild: (scene: Scene) => sharedMemory(scene, 'child'),
  samples,
  asked,
  limits,
  limitedContainer,
  migrated,
  forming: (scene: Scene) => forming(scene, formingMs),
  /** Where the kernel can be preempted. */
  formingPreempted: (scene: Scene) => forming(scene, formingMs, ['--urgent']),
};

export type Scenario = keyof typeof scenarios;
export type Records = { readonly [Name in Scenario]: Awaited<ReturnType<(typeof scenarios)[Name]>> };

/** Each record is told as soon as it is there. */
export async function carryOut(
  scene: Scene,
  names: readonly Scenario[],
  tell: (name: Scenario, record: Records[Scenario]) => void,
): Promise<void> {
  for (const name of names) {
    const began = performance.now();
    tell(name, await scenarios[name](scene));
    process.stderr.write(`${name}: ${Math.round(performance.now() - began)} ms\n`);
  }
}
