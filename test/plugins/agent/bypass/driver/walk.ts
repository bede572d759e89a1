import { setTimeout as sleep } from 'node:timers/promises';
import type { AccessPathEntry } from '../../../../support/bypass/types.ts';
import { type Armed, type Attempt, arm, attack } from './attack.ts';
import type { Place } from './place.ts';
import type { Machine } from './plan.ts';
import { type Prepared, prepareVictim, targetsOf } from './prepare.ts';

/** A victim that is covered from its start on, and one attempt on it. */
export async function walkOnePhase(machine: Machine, entry: AccessPathEntry, place: Place): Promise<Attempt> {
  const { process, facts } = await prepareVictim(machine.bypass, entry, place);
  try {
    return await attack(machine, entry.path, facts, targetsOf(facts));
  } finally {
    await process.kill();
  }
}

const mostDisturbances = 5;
const disturbanceMs = 500;

/**
 * As above, on a machine where other agents may be tested at the same time: they do not know this one's victims, but
 * kill whoever samples stacks.
 */
export async function walkAmongOthers(
  machine: Machine,
  entry: AccessPathEntry,
  place: Place,
): Promise<Attempt> {
  for (let left = mostDisturbances; ; left -= 1) {
    const attempt = await walkOnePhase(machine, entry, place);
    if (attempt.outcome !== 'killed') return attempt;
    if (left === 0) return { ...attempt, disturbed: true };
    await sleep(disturbanceMs);
  }
}

/** An attacker that has opened, or may trace, a victim that is not covered yet. */
export interface Late {
  readonly armed: Armed;
  /** Where the attacker did not start it itself. */
  readonly victim?: Prepared;
}

export async function armLate(machine: Machine, entry: AccessPathEntry, place: Place): Promise<Late> {
  if (entry.needs.includes('own-victim')) {
    return { armed: await arm(machine, entry.path, undefined, place.start) };
  }
  const victim = await prepareVictim(machine.bypass, entry, place);
  return { victim, armed: await arm(machine, entry.path, victim.facts) };
}

export async function finishLate({ armed, victim }: Late): Promise<Attempt> {
  const facts = victim?.facts ?? armed.own;
  try {
    armed.go();
    return await armed.result(facts === undefined ? [] : targetsOf(facts));
  } finally {
    await armed.end();
    await victim?.process.kill();
  }
}
