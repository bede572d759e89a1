import { faultLines, number, whereOf } from '../engine/report-text.ts';
import type { MigrateReport } from './index.ts';
import type { MigrateCounts } from './tally.ts';

const bytes = (count: number): string => `${number(count)} bytes`;

export const migrateProgressLine = ({ listed, seen, migrated, bytes: done }: MigrateCounts): string =>
  `${number(seen)} of ${number(listed)} objects listed so far, ${number(migrated)} migrated (${bytes(done)})`;

/** Lines for people: failures, results, what is left, and whether everything is done. */
export function migrateReportLines(report: MigrateReport): readonly string[] {
  const { unconditional = [], estimate } = report;
  return [
    ...faultLines(report, 'more that were not migrated'),
    done(report),
    ...(estimate === undefined
      ? []
      : [
          `A run takes about ${number(estimate.requests)} requests; it reads ${bytes(estimate.bytesRead)} and writes ${bytes(estimate.bytesWritten)}`,
        ]),
    ...(unconditional.length === 0
      ? []
      : [
          `Without conditions: the store holds ${unconditional.join(' and ')} to none; nobody was to write meanwhile`,
        ]),
    ...(report.left === 0 ? [] : [leftLine(report)]),
    ending(report),
  ];
}

function done(report: MigrateReport): string {
  const { dryRun, migrated, pending, current, gone, replaced, fromPlaintext, fromFormat1 } = report;
  return [
    dryRun ? `To migrate: ${number(pending)}` : `Migrated: ${number(migrated)}`,
    `${number(fromPlaintext)} from plaintext`,
    ...(report.format === 2 ? [`${number(fromFormat1)} from format 1`] : []),
    bytes(report.bytes),
    `${number(current)} already done`,
    ...(replaced > 0 ? [`${number(replaced)} replaced by others before they were read back`] : []),
    ...(gone > 0 ? [`${number(gone)} gone meanwhile`] : []),
  ].join('; ');
}

/** Stores cannot replace a version; whoever wants it gone must delete it. */
const leftLine = ({ left, leftPlaintext, dryRun }: MigrateReport): string =>
  `Older versions that ${dryRun ? 'would stay' : 'stay'} as they are: ${number(left)}, of which ${number(leftPlaintext)} are plaintext; delete them, or let a lifecycle rule do so, once nobody needs them`;

function ending({
  bucket,
  prefix,
  complete,
  endedBy,
  faultCount,
  format,
  dryRun,
  pending,
}: MigrateReport): string {
  const where = whereOf({ bucket, prefix });
  if (complete) return `Complete: everything in ${where} is encrypted${format === 2 ? ' in format 2' : ''}.`;
  if (endedBy !== undefined) return `Not complete: not all of ${where} was examined.`;
  if (faultCount > 0) return `Not complete: ${number(faultCount)} in ${where} could not be migrated.`;
  if (dryRun && pending > 0) return `Not complete: nothing was written.`;
  return `Not complete: run it again.`;
}
