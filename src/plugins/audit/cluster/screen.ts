import { stripVTControlCharacters } from 'node:util';
import type { Output } from '../contract.ts';

/** Writes a text over the last one on a terminal. */
export type Draw = (text: string) => void;

const [home, erase] = ['\u001b[H', '\u001b[2J'];
const [eraseLineEnd, eraseBelow] = ['\u001b[K', '\u001b[J'];

/**
 * Changes no mode of the terminal, so that nothing has to be put right however the process ends, and never scrolls,
 * so that no copies pile up above.
 */
export function createScreen(terminal: Output): Draw {
  let [drawn, size] = ['', ''];
  return (text) => {
    // a serial console says 0
    const [rows, columns] = [terminal.rows || 24, terminal.columns || 80];
    const isNew = size !== `${columns} ${rows}`;
    if (!isNew && drawn === text) return;
    [drawn, size] = [text, `${columns} ${rows}`];
    const lines = fitted(text.split('\n'), rows, columns).map((line) => line + lineEnd(line, columns));
    terminal.write(`${isNew ? erase : ''}${home}${lines.join('')}${eraseBelow}`);
  };
}

/** Behind a line that fills its row the cursor still stands upon the last character. */
function lineEnd(line: string, columns: number): string {
  const length = lengthOf(line);
  return length > 0 && length % columns === 0 ? '\n' : `${eraseLineEnd}\n`;
}

/** As many as fit above the row of the cursor, the last paragraph always among them. */
export function fitted(lines: readonly string[], rows: number, columns: number): readonly string[] {
  const space = rows - 1;
  if (heightOf(lines, columns) <= space) return lines;
  const blank = lines.lastIndexOf('');
  const [body, end] = [lines.slice(0, blank), lines.slice(blank)];
  const head = taken(body, space - heightOf([tooLow(body.length), ...end], columns), columns);
  return taken([...head, tooLow(body.length - head.length), ...end], space, columns);
}

const tooLow = (lines: number) => `… and ${lines} more lines, for which this window is too low`;

function taken(lines: readonly string[], rows: number, columns: number): readonly string[] {
  let left = rows;
  const end = lines.findIndex((line) => {
    left -= heightOf([line], columns);
    return left < 0;
  });
  return end < 0 ? lines : lines.slice(0, end);
}

function heightOf(lines: readonly string[], columns: number): number {
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(lengthOf(line) / columns)), 0);
}

const lengthOf = (line: string): number => stripVTControlCharacters(line).length;
