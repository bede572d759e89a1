import { steeringFamilies } from '../../../src/runtime/environment/steering/index.ts';
import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { cell, code } from '../operator/cell.ts';
import { withRegions } from '../operator/regions.ts';
import { gains } from './gains.ts';

export const wrapperPage = new URL('../../../docs/WRAPPER.md', import.meta.url);

/** docs/WRAPPER.md with its generated table as the code has it now. */
export function withTables(page: string): string {
  return withRegions(page, { steering: steeringTable() });
}

function steeringTable(): string[] {
  const rows = steeringFamilies.map(({ readBy, names, anyCase, evenCredentials }) => [
    cell(readBy),
    cell(gainOf(readBy)),
    `${names.map(code).join(' ')}${anyCase ? ' in any case' : ''}${evenCredentials ? ' credentials, too' : ''}`,
  ]);
  return markdownTable(['read by', 'gives the writer', 'names'], rows);
}

function gainOf(readBy: string): string {
  const gain = gains[readBy];
  if (gain === undefined) throw new Error(`scripts/docs/wrapper/gains.ts does not say what ${readBy} give.`);
  return gain;
}
