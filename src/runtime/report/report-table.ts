import Table from 'cli-table3';
import type { Paint, Style } from '../cli/terminal.ts';
import { printable } from './report-text.ts';

export interface Column {
  readonly title: string;
  /** Without the two blanks after the column. */
  readonly width: number;
  readonly align?: 'left' | 'right';
}

export type Cell = string | { readonly text: string; readonly paint: (text: string) => string };

export const coloured = (paint: Paint, style: Style, text: string): Cell => ({
  text,
  paint: (line) => paint(style, line),
});

const noLines = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'])
    .map((name) => [name, '']),
);
const gap = 2;

/** Columns of fixed width; longer text wraps and is never truncated. */
export function tableText(columns: readonly Column[], rows: readonly (readonly Cell[])[]): string {
  const table = new Table({
    chars: noLines,
    head: columns.map(({ title }) => title),
    colWidths: columns.map(({ width }) => width + gap),
    colAligns: columns.map(({ align = 'left' }) => align),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': gap },
    wordWrap: true,
    wrapOnWordBoundary: true,
  });
  for (const row of rows) table.push(row.map((cell, index) => cellText(cell, columns[index]?.width ?? 1)));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

function cellText(cell: Cell, width: number): string {
  if (typeof cell === 'string') return broken(printable(cell), width);
  return broken(printable(cell.text), width).split('\n').map(cell.paint).join('\n');
}

/** Breaks words that are too long, since names have no blanks. */
function broken(text: string, width: number): string {
  return text
    .split(' ')
    .map((word) => word.match(new RegExp(`.{1,${width}}`, 'gu'))?.join('\n') ?? '')
    .join(' ');
}
