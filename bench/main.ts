import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Bench, Table } from './harness/bench.ts';
import { drawBars } from './harness/chart.ts';
import { formatTable } from './harness/table.ts';

const say = (text: string) => process.stderr.write(`${text}\n`);

/** The modules beside this one that export a name and a run; others are helpers of theirs. */
async function loadAll(): Promise<Bench[]> {
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.ts') && file !== 'main.ts');
  const modules = await Promise.all(
    files.sort().map((file) => import(`./${file}`) as Promise<Partial<Bench>>),
  );
  return modules.filter((module): module is Bench => module.name !== undefined && module.run !== undefined);
}

function choose(all: Bench[], names: string[]): Bench[] {
  const unknown = names.filter((name) => !all.some((bench) => bench.name === name));
  if (unknown.length > 0) throw new Error(`No benchmark is named ${unknown.join(', ')}.`);
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
}

function list(all: Bench[]): string {
  const lines = all.map(({ name, summary }) => `  ${name}  ${summary}`);
  return ['Usage: npm run bench [-- [--json] name…]', ...lines].join('\n');
}

/** Bars beside the tables, in a folder that git does not keep. */
function writeCharts(name: string, tables: readonly Table[]): void {
  const folder = join(import.meta.dirname, '..', 'build', 'bench');
  mkdirSync(folder, { recursive: true });
  for (const [index, table] of tables.entries()) {
    const svg = drawBars(table, 'light');
    const file = join(folder, `${name}-${index + 1}.svg`);
    if (svg === undefined) continue;
    writeFileSync(file, svg);
    say(`${name}: chart in ${file}`);
  }
}

async function main(argv: string[]): Promise<void> {
  const options = { json: { type: 'boolean' }, help: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ args: argv, allowPositionals: true, options });
  const all = await loadAll();
  if (values.help) {
    say(list(all));
    return;
  }
  const results: Record<string, unknown> = {};
  for (const bench of choose(all, positionals)) {
    const tables = await bench.run((progress) => say(`${bench.name}: ${progress}`));
    results[bench.name] = tables;
    writeCharts(bench.name, tables);
    if (!values.json) process.stdout.write(`${tables.map(formatTable).join('\n\n')}\n\n`);
  }
  if (values.json) process.stdout.write(`${JSON.stringify(results, undefined, 2)}\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
