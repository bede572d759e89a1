import { tierNames } from '../src/runtime/protocols/protection/report.ts';
import { privateFileSystem } from '../test/plugins/agent/bpf/private-file-system.ts';
import { measureAgent } from './agent/daily.ts';
import { measureHere, measureInVm } from './agent/in-vm.ts';
import type { CostExtent, CostRecord, KernelTier } from './agent/plan.ts';
import { type Operation, ratioRows } from './agent/ratios.ts';
import type { Bench, Table } from './harness/bench.ts';

export const name = 'agent-cost';
export const summary = 'What the node agent costs: calls of others beside it, hits, memory';

/** Short turns. Of the operations of a turn the first also translate what was just attached. */
const how: Omit<CostExtent, 'rounds'> = {
  herd: 4_096,
  meter: ['--rounds', '3', '--opens', '600', '--reads', '2000', '--calls', '2000', '--forks', '2'],
};

/** A machine that counts instructions gives the same figures again; on this one slow moments have to even out. */
const inVm: CostExtent = { ...how, rounds: 12 };
const here: CostExtent = { ...how, rounds: 40 };

const columns: Readonly<Record<string, Operation>> = {
  'open+close': 'openClose',
  'read 1 B': 'readByte',
  'read 4 KiB': 'readPage',
  'fork+exec': 'forkExec',
  'open /proc/self/stat': 'openCloseProc',
  'open /proc/PID/status': 'openCloseStatus',
  'a no-op call': 'call',
  'map, touch and unmap a page': 'mapPage',
};

export const run: Bench['run'] = async (say) => {
  const tables: Table[] = [];
  for (const tier of [1, 2] as const) {
    say(`tier ${tier} in a virtual machine that counts instructions, ${inVm.rounds} rounds`);
    tables.push(tableOf(tier, await measureInVm(tier, inVm)));
  }
  say(`tier 3 natively, ${here.rounds} rounds`);
  const files = privateFileSystem();
  tables.push(tableOf(3, await measureHere(here, files)));
  files.remove();
  return [...tables, ...(await measureAgent(say))];
};

function tableOf(tier: KernelTier, records: readonly CostRecord[]): Table {
  const facts = records.find((record) => record.kind === 'facts');
  const maps = Object.values(facts?.maps ?? {}).reduce((sum, bytes) => sum + bytes, 0);
  return {
    title: `Tier ${tier} (${tierNames[tier]}), Linux ${facts?.kernel}, ${facts?.covered} processes protected`,
    columns: Object.keys(columns),
    rows: [
      ...ratioRows(records, Object.values(columns)),
      ...(tier === 3 ? [] : [{ name: 'aim', cells: [1.08, 1.02, 1.02] }]),
    ],
    notes: [`Tables in the kernel: ${(maps / 1024 ** 2).toFixed(1)} MiB.`],
  };
}
