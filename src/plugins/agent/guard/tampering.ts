import { existsSync } from 'node:fs';
import type { GuardSettings } from '../../../core/protection/layouts.ts';
import { isUnloaded } from './pins.ts';
import type { ProgramSet } from './program-set.ts';

/** What nobody but the agent changes; when openings are seen from is the programs' to change, too. */
const own = ['enforce', 'kill', 'left', 'generation', 'agent'] as const;

/**
 * What others have changed of a set of programs and the canary does not see: it is tried by the agent itself, whom
 * nothing kills, and what is unpinned guards for as long as the agent lives.
 * @returns what is wrong
 */
export function findTampering(set: ProgramSet, folder: string): string | undefined {
  const missing = isUnloaded(folder) ? undefined : set.pins().find((path) => !existsSync(path));
  if (missing !== undefined) return `${missing} has been unpinned`;
  const changed = changedSetting(set);
  return changed === undefined ? undefined : `the setting ${changed} has been changed`;
}

/** The name of one that others have changed. */
export function changedSetting(set: ProgramSet): string | undefined {
  const settings = set.settings();
  return own.find((name) => !isEqual(settings[name], set.written?.[name]));
}

/** Puts settings right at once: until another set of programs is proven, these go by them. */
export function restoreSettings(set: ProgramSet): void {
  if (set.written === undefined) return;
  const { enforce, kill, left, generation, agent } = set.written;
  set.change({ enforce, kill, left, generation, agent });
}

type Value = GuardSettings[(typeof own)[number]] | undefined;

function isEqual(one: Value, other: Value): boolean {
  if (typeof one !== 'object' || typeof other !== 'object') return one === other;
  return one.pid === other.pid && one.start === other.start;
}
