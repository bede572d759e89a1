import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Bench, Table } from './harness/bench.ts';
import { drawBars } from './harness/chart.ts';
import { writeTables } from './harness/page.ts';
import { formatTable } from './harness/table.ts';

/** Where `--write` puts the tables. */
const pages = ['BENCHMARKS', 'MEASUREMENTS'].map((name) => new URL(`../docs/${name}.md`, import.meta.url));

const tell = (text: string) => process.stderr.write(`${text}\n`);

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

/** @throws Error where `--only` names what the benchmark has not got */
function partsOf({ name, parts = [] }: Bench, only: string | undefined): readonly string[] {
  if (only === undefined) return parts;
  const wanted = only.split(',');
  const unknown = wanted.filter((part) => !parts.includes(part));
  if (unknown.length > 0) throw new Error(`${name} has no part named ${unknown.join(', ')}.`);
  return parts.filter((part) => wanted.includes(part));
}

function list(all: Bench[]): string {
  const lines = all.map(({ name, summary, parts }) =>
    [`  ${name}  ${summary}`, ...(parts ? [`    --only ${parts.join(',')}`] : [])].join('\n'),
  );
  return ['Usage: npm run bench [-- [--json] [--write] [--only part,…] name…]', ...lines].join('\n');
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
    tell(`${name}: chart in ${file}`);
  }
}

async function main(argv: string[]): Promise<void> {
  const flag = { type: 'boolean' } as const;
  const options = { json: flag, help: flag, write: flag, only: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ args: argv, allowPositionals: true, options });
  const all = await loadAll();
  if (values.help) {
    tell(list(all));
    return;
  }
  const results: Record<string, unknown> = {};
  for (const bench of choose(all, positionals)) {
    const say = (progress: string) => tell(`${bench.name}: ${progress}`);
    const tables = await bench.run(say, partsOf(bench, values.only));
    results[bench.name] = tables;
    writeCharts(bench.name, tables);
    if (!values.json) process.stdout.write(`${tables.map(formatTable).join('\n\n')}\n\n`);
    if (values.write) writeTables(pages, tables);
  }
  if (values.json) process.stdout.write(`${JSON.stringify(results, undefined, 2)}\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  tell(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
