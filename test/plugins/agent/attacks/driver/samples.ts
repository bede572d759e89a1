import { type AttackOutcome, attack, startVictim } from './attack.ts';
import type { Scene } from './scene.ts';

export interface SamplesRecord {
  /** On oneself, so as to go on in children that are covered later. */
  readonly inherited: AttackOutcome;
  readonly stack: AttackOutcome;
  readonly registers: AttackOutcome;
  /** Attributes in a page that is not present as the call is made. */
  readonly absentAttributes: AttackOutcome;
  /** What shows no memory of anybody, or one's own. */
  readonly harmless: Readonly<Record<string, AttackOutcome>>;
}

/** Samples of user memory by perf, and what perf is there for. */
export async function samples(scene: Scene): Promise<SamplesRecord> {
  const { guard } = await scene.shared();
  const [covered, other] = [await startVictim(scene), await startVictim(scene)];
  guard.protect(covered.pid);
  const perf = (kind: string, pid = 0, ...args: string[]) =>
    attack(scene, 'perf', ['--kind', kind, '--pid', pid, ...args]);
  const record = {
    inherited: await perf('inherited'),
    stack: await perf('stack', covered.pid),
    registers: await perf('registers', covered.pid),
    absentAttributes: await perf('stack', covered.pid, '--absent'),
    harmless: {
      'own stack': await perf('stack'),
      'own places': await perf('places'),
      'own count': await perf('count'),
      "another's places": await perf('places', other.pid),
      "another's count": await perf('count', other.pid),
    },
  };
  for (const { process } of [covered, other]) await process.kill();
  return record;
}
