import { readFileSync, writeFileSync } from 'node:fs';
import type { Row } from './compare.ts';

const file = new URL('./rows.json', import.meta.url);

/** What the last recorded run found, in the order of the table. */
export function readRows(): Row[] {
  return JSON.parse(readFileSync(file, 'utf8'));
}

export function writeRows(rows: readonly Row[]): void {
  writeFileSync(file, `${JSON.stringify(rows, null, 2)}\n`);
}
