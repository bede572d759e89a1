import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCgroupRoot } from '../../../../../src/plugins/agent/pods/pod-cgroups.ts';
import { reusePid } from '../../../../support/bypass/load.ts';
import type { VictimFacts } from '../../../../support/bypass/types.ts';
import { newMarker } from '../../../../support/bypass/victim.ts';
import { type Attempt, attack } from './attack.ts';
import type { Place } from './place.ts';
import type { Machine } from './plan.ts';
import { ask, prepareVictim } from './prepare.ts';

/** What may happen to a covered process, and an attempt then. */
export interface Scenario {
  readonly path: string;
  /** Only where victims are covered by their cgroup. */
  readonly inCgroup?: true;
  walk(machine: Machine, place: Place): Promise<Attempt>;
}

export const scenarios: readonly Scenario[] = [
  {
    path: 'forked-environ',
    walk: (machine, place) => attackFork(machine, place, 'environ', 'forked-environ'),
  },
  { path: 'forked-memory', walk: (machine, place) => attackFork(machine, place, 'mem', 'forked-memory') },
  { path: 'moved-environ', inCgroup: true, walk: attackMoved },
  { path: 'reused-pid', walk: attackReused },
];

/** A child by fork alone shares nothing with its parent but what was copied. */
async function attackFork(machine: Machine, place: Place, path: string, name: string): Promise<Attempt> {
  const { process: victim } = await prepareVictim(machine.bypass, { needs: [] }, place);
  try {
    const facts = await ask<VictimFacts>(victim, 'fork');
    const child = facts.child as number;
    const attempt = await attack(machine, path, { ...facts, pid: child }, [child]);
    return { ...attempt, path: name };
  } finally {
    await victim.kill();
  }
}

/** Root moves a process out of the cgroup that covers it. */
async function attackMoved(machine: Machine, place: Place): Promise<Attempt> {
  const { process: victim, facts } = await prepareVictim(machine.bypass, { needs: [] }, place);
  try {
    writeFileSync(join(String(findCgroupRoot('/sys/fs/cgroup')), 'cgroup.procs'), String(facts.pid));
    const attempt = await attack(machine, 'environ', facts, [facts.pid]);
    return { ...attempt, path: 'moved-environ' };
  } finally {
    await victim.kill();
  }
}

/** A stranger is given the PID of a process that was covered. */
async function attackReused(machine: Machine, place: Place): Promise<Attempt> {
  const { process: victim, facts } = await prepareVictim(machine.bypass, { needs: [] }, place);
  await victim.kill();
  const marker = newMarker();
  const stranger = await reusePid(machine.bypass, facts.pid, marker);
  try {
    const attempt = await attack(machine, 'environ', { pid: stranger.pid, marker }, [stranger.pid]);
    return { ...attempt, path: 'reused-pid' };
  } finally {
    await stranger.end();
  }
}
