import { existsSync, renameSync } from 'node:fs';
import { mapEntries } from '../../../../../src/plugins/agent/bpf/map.ts';
import { linkFolders, unpinAll } from '../../../../../src/plugins/agent/guard/program-set.ts';
import {
  decodeProtectionFlags,
  decodeSettings,
  encodeSettings,
  type GuardSettings,
  protectionFlags,
} from '../../../../../src/runtime/protocols/protection/bpf-layouts.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { metric } from './agent.ts';
import { attempt } from './attempts.ts';
import type { Bench, Covered } from './bench.ts';
import type { AgentMode, Machine } from './machine.ts';
import { coveredPids, withTable } from './tables.ts';

/** Something of the tier in force is taken away or changed while the agent is there. */
export interface Damage {
  readonly name: string;
  /** Does it. */
  damage(machine: Machine): void;
  /** Whether it is as it was. */
  isRepaired(machine: Machine): boolean;
}

export interface Repaired {
  readonly name: string;
  /** Until a canary passed again; undefined: it was not as before then. */
  readonly repairedMs: number | undefined;
  readonly tier: string;
  /** What one attempt on the covered process came to afterwards. */
  readonly attack: string;
  readonly stillCovered: boolean;
}

export interface RepairRecord {
  readonly tier: string;
  readonly damages: readonly Repaired[];
  /** Once the agent is killed at the very end: what is pinned guards. */
  readonly attackAway: string;
}

const onlyEntry = Buffer.alloc(4);

export const readSettings = (machine: Machine): GuardSettings =>
  withTable(machine, 'settings', (table) => decodeSettings(table.lookup(onlyEntry) as Buffer));

function setting(name: keyof GuardSettings, value: GuardSettings[typeof name]): Damage {
  let before: unknown;
  return {
    name: `settings.${name}`,
    damage(machine) {
      const settings = readSettings(machine);
      before = JSON.stringify(settings[name], plain);
      withTable(machine, 'settings', (table) =>
        table.update(onlyEntry, encodeSettings({ ...settings, [name]: value })),
      );
    },
    isRepaired: (machine) =>
      name === 'generation'
        ? readSettings(machine).generation !== value
        : JSON.stringify(readSettings(machine)[name], plain) === before,
  };
}

const plain = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

const decoyRemoved: Damage = {
  name: 'decoy',
  damage: (machine) =>
    withTable(machine, 'processes', (table) => {
      for (const { key, value } of mapEntries(table)) if (isDecoy(value)) table.delete(key);
    }),
  isRepaired: (machine) =>
    withTable(machine, 'processes', (table) => mapEntries(table).some(({ value }) => isDecoy(value))),
};

const isDecoy = (value: Buffer) => (decodeProtectionFlags(value) & protectionFlags.decoy) !== 0;

const unpinned: Damage = {
  name: 'pins',
  damage: ({ bpf }) => void unpinAll(bpf),
  isRepaired: ({ bpf }) => linkFolders(bpf).length === 1,
};

export const damages = {
  enforce: setting('enforce', false),
  kill: setting('kill', false),
  agent: setting('agent', { pid: 1, start: 0n }),
  generation: setting('generation', 2 ** 31),
  decoy: decoyRemoved,
  pins: unpinned,
} satisfies Record<string, Damage>;

export type DamageName = keyof typeof damages;

/** Whether each damage is noticed and put right, with everything covered as before. */
export async function repair(
  bench: Bench,
  mode: AgentMode,
  names: readonly DamageName[],
): Promise<RepairRecord> {
  const { listening } = await bench.start(mode);
  const covered = await bench.covered();
  const repaired: Repaired[] = [];
  for (const name of names) repaired.push(await damageOnce(bench, covered, damages[name]));
  await bench.agent.kill('SIGKILL');
  const attackAway = await attempt(bench.machine, covered.facts);
  return { tier: String(listening['tier']), damages: repaired, attackAway };
}

async function damageOnce(bench: Bench, { facts }: Covered, { name, ...it }: Damage): Promise<Repaired> {
  const { machine, agent } = bench;
  const canaries = (result: string) => metric(agent, `svc_agent_canary_total{result="${result}"}`);
  const before = await canaries('failed');
  it.damage(machine);
  const began = performance.now();
  await waitFor(`${name} to be noticed`, async () => (await canaries('failed')) > before);
  const passed = await canaries('passed');
  // of the set of programs that was put in the place of the damaged one
  await waitFor('a canary that passes', async () => (await canaries('passed')) > passed);
  const repairedMs = it.isRepaired(machine) ? Math.round(performance.now() - began) : undefined;
  const attack = await attempt(machine, facts);
  return {
    ...{ name, repairedMs, attack },
    tier: String(agent.lines('guard.tier').at(-1)?.['tier']),
    stillCovered: coveredPids(machine).includes(facts.pid),
  };
}

export interface LeftRecord {
  readonly tier: string;
  readonly next: string;
  readonly reason: string;
  /** From the damage to the log line of the next tier. */
  readonly leftMs: number;
  readonly attack: string;
  readonly stillCovered: boolean;
}

/** A tier that stops working and cannot be had again is left for the next one. @param object its file */
export async function leaveTier(bench: Bench, mode: AgentMode, object: string): Promise<LeftRecord> {
  const { machine } = bench;
  const agent = await bench.start(mode);
  const { facts } = await bench.covered();
  renameSync(object, `${object}.away`);
  try {
    damages.enforce.damage(machine);
    const began = Date.now();
    const line = await waitFor('the next tier', () => agent.lines('guard.tier')[1]);
    const attack = await attempt(machine, facts);
    const stillCovered = coveredPids(machine).includes(facts.pid);
    const leftMs = Date.parse(line.time) - began;
    const [tier, next] = [String(agent.listening['tier']), String(line['tier'])];
    return { ...{ tier, next, leftMs, attack, stillCovered }, reason: String(line['passed_over']) };
  } finally {
    if (existsSync(`${object}.away`)) renameSync(`${object}.away`, object);
  }
}
