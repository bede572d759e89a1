import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Bench } from './harness/bench.ts';
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
