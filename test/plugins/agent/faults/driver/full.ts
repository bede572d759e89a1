import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadLibbpf } from '../../../../../src/plugins/agent/bpf/libbpf.ts';
import type { PinnedMap } from '../../../../../src/plugins/agent/bpf/map.ts';
import { findCgroupRoot } from '../../../../../src/plugins/agent/pods/pod-cgroups.ts';
import { withBytes, withMemory } from '../../../../../src/runtime/native/memory.ts';
import {
  encodeProcess,
  encodeProtection,
  sizes,
} from '../../../../../src/runtime/protocols/protection/bpf-layouts.ts';
import type { LineProcess } from '../../../../support/bypass/line-process.ts';
import type { VictimFacts } from '../../../../support/bypass/types.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { ask } from '../../bypass/driver/prepare.ts';
import { metric } from './agent.ts';
import { attempt } from './attempts.ts';
import type { Bench } from './bench.ts';
import type { Machine } from './machine.ts';
import { coveredCgroups, coveredPids, withTable } from './tables.ts';

export interface FullRecord {
  readonly filled: number;
  /** A child that is forked now: covered by the cgroup in place of an entry of its own. */
  readonly child: string;
  readonly childHasEntry: boolean;
  readonly cgroupsAdded: number;
  readonly cgroupIsTheChilds: boolean;
  /** A newcomer is told so and waits; once there is room again it is registered. */
  readonly toldNewcomer: boolean;
  readonly newcomerWaits: boolean;
  readonly lost: number;
  readonly refusalAfter: string | undefined;
  /** With room again a child has an entry again. */
  readonly childAfter: string;
  readonly childAfterHasEntry: boolean;
}

/** The first process is there for good, and did not start then. */
const madeUp = (index: number) => encodeProcess({ pid: 1, start: BigInt(index + 1) });
const flags = encodeProtection(0);

/** The table of covered processes runs full. */
export async function fullTable(bench: Bench): Promise<FullRecord> {
  const { machine } = bench;
  const { victim, facts } = await bench.covered();
  const newcomer = await bench.place();
  const cgroup = moveToOwnCgroup(facts.pid);
  const known = coveredCgroups(machine);
  const filled = withTable(machine, 'processes', fill);
  const whileFull = await forkWhileFull(bench, victim.process, facts, known, cgroup);
  const newcomers = newcomer.protect();
  const waiting = await refusals(bench, newcomers);
  withTable(machine, 'processes', (table) => empty(table, filled));
  const refused = await newcomers;
  const afterwards = await forkAgain(machine, victim.process, facts);
  return { filled, ...whileFull, ...waiting, refusalAfter: refused?.message, ...afterwards };
}

/** Until the agent has refused it, and told how much it had no room for. */
async function refusals({ agent }: Bench, newcomer: Promise<unknown>) {
  let newcomerWaits = true;
  void newcomer.finally(() => {
    newcomerWaits = false;
  });
  const isTold = () => agent.lines('registration.refused').some(({ outcome }) => outcome === 'full');
  await waitFor('the refusal', isTold);
  const lost = await waitFor('the loss', () => metric(agent, 'svc_agent_lost_total{what="processes"}'));
  return { toldNewcomer: isTold(), newcomerWaits, lost };
}

/** @returns its id */
function moveToOwnCgroup(pid: number): bigint {
  const path = join(String(findCgroupRoot('/sys/fs/cgroup')), 'full');
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'cgroup.procs'), String(pid));
  return statSync(path, { bigint: true }).ino;
}

type Batch = 'bpf_map_update_batch' | 'bpf_map_delete_batch';

/** @returns how many of the keys were put in or taken out before the kernel refused one */
function inBatch(call: Batch, { descriptor }: PinnedMap, keys: Buffer, values?: Buffer): number {
  return withMemory(8, ({ address: count, bytes }) =>
    withBytes(keys, (from) => {
      bytes.writeUInt32LE(keys.length / sizes.process);
      const run = (...places: bigint[]) => loadLibbpf().int(call, descriptor, from, ...places, count, 0n);
      if (values === undefined) run();
      else withBytes(values, run);
      return bytes.readUInt32LE();
    }),
  );
}

function fill(table: PinnedMap): number {
  const all = Array.from({ length: table.facts.maxEntries }, (_, index) => madeUp(index));
  return inBatch('bpf_map_update_batch', table, Buffer.concat(all), Buffer.concat(all.map(() => flags)));
}

function empty(table: PinnedMap, count: number): void {
  const all = Array.from({ length: count }, (_, index) => madeUp(index));
  const gone = inBatch('bpf_map_delete_batch', table, Buffer.concat(all));
  if (gone !== count) throw new Error(`${gone} of ${count} made-up keys were taken out`);
}

async function forkWhileFull(
  { machine }: Bench,
  victim: LineProcess,
  { marker }: VictimFacts,
  known: readonly bigint[],
  cgroup: bigint,
) {
  const { child: pid = 0 } = await ask<VictimFacts>(victim, 'fork');
  const child = await attempt(machine, { pid, marker });
  const added = coveredCgroups(machine).filter((id) => !known.includes(id));
  return {
    child,
    childHasEntry: coveredPids(machine).includes(pid),
    cgroupsAdded: added.length,
    cgroupIsTheChilds: added[0] === cgroup,
  };
}

async function forkAgain(machine: Machine, victim: LineProcess, { marker }: VictimFacts) {
  const { child: pid = 0 } = await ask<VictimFacts>(victim, 'fork');
  return {
    childAfter: await attempt(machine, { pid, marker }),
    childAfterHasEntry: coveredPids(machine).includes(pid),
  };
}
