import { steeringFamilies } from '../../../src/core/steering/index.ts';
import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { cell, code } from '../operator/cell.ts';
import { withRegions } from '../operator/regions.ts';

export const wrapperPage = new URL('../../../docs/WRAPPER.md', import.meta.url);

/** docs/WRAPPER.md with its generated table as the code has it now. */
export function withTables(page: string): string {
  return withRegions(page, { steering: steeringTable() });
}

function steeringTable(): string[] {
  const rows = steeringFamilies.map(({ readBy, gives, names, anyCase = false }) => [
    cell(readBy),
    cell(gives),
    `${names.map(code).join(' ')}${anyCase ? ' in any case' : ''}`,
  ]);
  return markdownTable(['read by', 'gives the writer', 'names'], rows);
}
