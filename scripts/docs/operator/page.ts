import { withRegions } from './regions.ts';
import { scoreTable } from './score.ts';

export const operatorPage = new URL('../../../docs/OPERATOR.md', import.meta.url);

/** docs/OPERATOR.md with its table of the score as the code has it now. */
export function withTables(page: string): string {
  return withRegions(page, { score: scoreTable() });
}
