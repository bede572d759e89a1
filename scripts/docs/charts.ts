import { readFileSync } from 'node:fs';
import type { Row, Table } from '../../bench/harness/bench.ts';
import { drawBars, type Theme, themes } from '../../bench/harness/chart.ts';

export const benchmarksPage = new URL('../../docs/BENCHMARKS.md', import.meta.url);
const pictures = new URL('../../docs/pictures/', import.meta.url);

/** The pictures that docs/BENCHMARKS.md shows, drawn from the table below each, by the name of the file. */
export function charts(): ReadonlyMap<URL, string> {
  const page = readFileSync(benchmarksPage, 'utf8');
  const files = new Map<URL, string>();
  for (const [, name = '', columns = '', table = ''] of page.matchAll(marked)) {
    for (const theme of themes)
      files.set(chartFile(name, theme), draw(name, columns.split('; '), table, theme));
  }
  return files;
}

/** `<!-- chart NAME: COLUMNS -->`, the picture, and the table. */
const marked = /<!-- chart ([a-z0-9-]+): ([^\n]*) -->\n\n<picture>[\s\S]*?<\/picture>\n\n((?:\|.*\n)+)/g;

export function chartFile(name: string, theme: Theme): URL {
  return new URL(`${name}-${theme}.svg`, pictures);
}

function draw(name: string, columns: readonly string[], table: string, theme: Theme): string {
  const drawn = drawBars(withColumns(readTable(table), columns), theme);
  if (drawn === undefined)
    throw new Error(`docs/BENCHMARKS.md: the table of the chart ${name} has no figures`);
  return drawn;
}

function readTable(text: string): Table {
  const [head = [], , ...rows] = text.trimEnd().split('\n').map(cellsOf);
  const [title = '', ...columns] = head;
  return {
    title,
    columns,
    rows: rows.map(([name = '', ...cells]) => ({ name, cells: cells.map(figureOf) })),
  };
}

function cellsOf(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('`', ''));
}

function figureOf(cell: string): Row['cells'][number] {
  return /^[\d.,]+$/.test(cell) ? Number(cell.replaceAll(',', '')) : undefined;
}

function withColumns({ title, columns, rows }: Table, wanted: readonly string[]): Table {
  const places = wanted.map((name) => columns.indexOf(name));
  const unknown = wanted.filter((_, index) => places[index] === -1);
  if (unknown.length > 0)
    throw new Error(`docs/BENCHMARKS.md: the table ${title} has no column ${unknown.join(', ')}`);
  return {
    title,
    columns: wanted,
    rows: rows.map(({ name, cells }) => ({ name, cells: places.map((place) => cells[place]) })),
  };
}
