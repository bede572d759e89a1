import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import type { Table } from './bench.ts';
import { cellText } from './table.ts';

const measured = 'Measured on ';

/** Puts each table into the first of the pages that has a place for it. @throws Error where none has */
export function writeTables(pages: readonly URL[], tables: readonly Table[]): void {
  for (const table of tables) {
    const place =
      pages.find((page) => startOf(readFileSync(page, 'utf8').split('\n'), table) >= 0) ?? pages[0];
    if (place !== undefined) writeFileSync(place, withTable(readFileSync(place, 'utf8'), table));
  }
}

/**
 * The page with the table in the place of the one whose first heading is its title, or of the comment `table <title>`, and
 * below it when and where it was measured. @throws Error where the page has no such place
 */
export function withTable(page: string, table: Table): string {
  const lines = page.split('\n');
  const start = startOf(lines, table);
  if (start < 0) throw new Error(`The page has no table with the heading "${table.title}".`);
  let end = start + 1;
  while (lines[end]?.startsWith('|')) end += 1;
  if (lines[end + 1]?.startsWith(measured)) end += 2;
  return lines.toSpliced(start, end - start, ...markdown(table), '', occasion(table)).join('\n');
}

const startOf = (lines: readonly string[], { title }: Table): number =>
  lines.findIndex((line) => line === `<!-- table ${title} -->` || cellsOf(line)[0] === title);

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** First column to the left, figures to the right; what is not known is left empty. */
function markdown({ title, columns, rows }: Table): string[] {
  const texts = [
    [title, ...columns],
    ...rows.map(({ name, cells }) => [name, ...columns.map((_, index) => text(cells[index]))]),
  ];
  const widths = [title, ...columns].map((_, index) =>
    Math.max(3, ...texts.map((line) => (line[index] ?? '').length)),
  );
  const pad = (cell: string, index: number) => {
    const width = widths[index] ?? 0;
    return index === 0 ? cell.padEnd(width) : cell.padStart(width);
  };
  const rule = widths.map((width, index) => (index === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const [head, ...body] = texts.map((line) => line.map(pad));
  return [head as string[], rule, ...body].map((line) => `| ${line.join(' | ')} |`);
}

const text = (cell: Table['rows'][number]['cells'][number]): string =>
  cell === undefined ? '' : cellText(cell);

function occasion({ disturbance }: Table): string {
  const day = new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' });
  const models = cpus();
  const machine = `${models.length} × ${models[0]?.model.trim()}, Linux ${release()}, Node ${process.versions.node}`;
  return [`${measured}${day}: ${machine}.`, disturbance ?? []].flat().join(' ');
}
