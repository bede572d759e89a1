import type { Row, Table } from './bench.ts';

/** As pages show it. */
export function cellText(cell: Row['cells'][number]): string {
  if (cell === undefined) return '–';
  return typeof cell === 'number' ? formatNumber(cell) : cell;
}

function formatNumber(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return Number.isInteger(value) ? String(value) : value.toFixed(digits);
}

/** The table as aligned text: first column to the left, figures to the right. */
export function formatTable({ title, columns, rows, notes = [], disturbance }: Table): string {
  const lines = [['', ...columns], ...rows.map(({ name, cells }) => [name, ...cells.map(cellText)])];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index + 1]?.length ?? 0)));
  const first = Math.max(...lines.map(([name = '']) => name.length));
  const text = lines.map(([name = '', ...cells]) =>
    [name.padEnd(first), ...cells.map((cell, index) => cell.padStart(widths[index] ?? 0))]
      .join('  ')
      .trimEnd(),
  );
  return [
    title,
    ...text.map((line) => `  ${line}`),
    ...[...notes, disturbance ?? []].flat().map((note) => `  ${note}`),
  ].join('\n');
}
