import { fileURLToPath } from 'node:url';
import type { Bench, Row } from './harness/bench.ts';
import { type Cost, measureNode } from './harness/cpu-time.ts';
import { median } from './harness/median.ts';

const RUNS = 25;
const SVC = fileURLToPath(new URL('../bin/run.js', import.meta.url));

const COMMANDS: readonly (readonly [string, readonly string[]])[] = [
  ['bare node', ['-e', '0']],
  ['svc --version', [SVC, '--version']],
  ['svc --help', [SVC, '--help']],
  ['svc run', [SVC, 'run']],
];

/** Takes turns, so that a busy moment of the machine meets every command. */
function measure(): Row[] {
  const costs = COMMANDS.map((): Cost[] => []);
  for (const [, args] of COMMANDS) measureNode(args); // fills the compile cache
  for (let turn = 0; turn < RUNS; turn += 1) {
    COMMANDS.forEach(([, args], index) => void costs[index]?.push(measureNode(args)));
  }
  return COMMANDS.map(([name], index) => row(name, costs[index] ?? []));
}

function row(name: string, costs: Cost[]): Row {
  const cpu = costs.map((cost) => cost.cpu);
  return { name, cells: [median(cpu), Math.min(...cpu), median(costs.map(({ wall }) => wall))] };
}

export const name = 'startup';
export const summary = 'What starting a command costs';

export const run: Bench['run'] = async (say) => {
  say(`${RUNS} runs of each of ${COMMANDS.length} commands`);
  const columns = ['CPU ms (median)', 'CPU ms (least)', 'wall ms (median)'];
  const notes = ['Goal: svc --version within 100 ms of CPU on Node 24.', `Node ${process.versions.node}`];
  return [{ title: 'Start-up', columns, rows: measure(), notes }];
};
