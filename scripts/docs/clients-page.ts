import type { ApplicationOutcome, Row } from '../../test/conformance/applications/compare.ts';
import { readRows } from '../../test/conformance/applications/rows.ts';
import { markdownTable } from '../../test/plugins/agent/bypass/markdown-table.ts';
import { cell } from './operator/cell.ts';
import { withRegions } from './operator/regions.ts';

export const clientsPage = new URL('../../docs/CLIENTS.md', import.meta.url);

/** docs/CLIENTS.md with its table as the recorded run has it. */
export function withTables(page: string): string {
  return withRegions(page, { applications: applicationsTable() });
}

function applicationsTable(): string[] {
  const rows = readRows().map((row) => [
    cell(row.title),
    row.version.replace(/^v/, ''),
    row.versitygw.result,
    row.minio.result,
    both(row, 'bytes'),
    both(row, 'requests'),
    cell(row.note ?? ''),
  ]);
  return markdownTable(['application', 'version', 'versitygw', 'MinIO', 'bytes', 'requests', 'notes'], rows);
}

/** One figure where the stores agree. */
function both({ versitygw, minio }: Row, what: 'bytes' | 'requests'): string {
  const figures = [versitygw, minio].map((outcome) => figure(outcome, what));
  return [...new Set(figures)].join(' / ');
}

const figure = (outcome: ApplicationOutcome, what: 'bytes' | 'requests'): string =>
  outcome.result === 'passes' ? String(outcome[what]) : '–';
