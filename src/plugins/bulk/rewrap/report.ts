import { printable } from '../../../runtime/report/report-text.ts';
import { faultLines, number, whereOf } from '../engine/report-text.ts';
import type { RewrapReport } from './index.ts';
import type { KeyUse, RewrapCounts } from './tally.ts';

const counted = (count: number, what: string): string =>
  count === 1 ? `1 ${what}` : `${number(count)} ${what}s`;

export const rewrapProgressLine = ({ listed, seen, copied, recorded }: RewrapCounts): string =>
  `${number(seen)} of ${number(listed)} objects listed so far, ${number(copied + recorded)} wrapped again`;

/** Lines for people: failures, results, needed key versions, and whether everything is done. */
export function rewrapReportLines(report: RewrapReport): readonly string[] {
  const { recordedBecause, keyVersions } = report;
  return [
    ...faultLines(report, 'more that were not wrapped'),
    done(report),
    ...Object.entries(recordedBecause).map(
      ([why, count]) => `  in a record because of ${why}: ${number(count)}`,
    ),
    ...keyVersions.map(useLine),
    ending(report),
  ];
}

function done(report: RewrapReport): string {
  const { dryRun, copied, recorded, current, pending, unencrypted, gone } = report;
  return [
    dryRun ? `To wrap again: ${number(pending)}` : `Wrapped again: ${number(copied + recorded)}`,
    ...(dryRun ? [] : [`${number(copied)} in headers`, `${number(recorded)} in records`]),
    `${number(current)} already done`,
    ...(unencrypted > 0 ? [`${number(unencrypted)} not encrypted`] : []),
    ...(gone > 0 ? [`${number(gone)} gone meanwhile`] : []),
  ].join('; ');
}

function useLine({ keyName, keyVersion, objects, olderVersions, uploads }: KeyUse): string {
  const what = [
    ...(objects > 0 ? [counted(objects, 'object')] : []),
    ...(olderVersions > 0 ? [counted(olderVersions, 'older version')] : []),
    ...(uploads > 0 ? [counted(uploads, 'upload under way')] : []),
  ];
  return `  needed: ${printable(keyName)} v${keyVersion}  ${what.join(', ')}`;
}

function ending({ bucket, prefix, complete, target, keyVersions, endedBy, dryRun }: RewrapReport): string {
  const where = whereOf({ bucket, prefix });
  const { keyName, keyVersion } = target;
  if (complete)
    return `Complete: nothing in ${where} needs more than ${keyName} from version ${keyVersion} on.`;
  if (endedBy !== undefined) return `Not complete: not all of ${where} was examined.`;
  const versions = keyVersions.filter((use) => use.keyName === keyName).map((use) => use.keyVersion);
  const oldest = versions.length === 0 ? keyVersion : Math.min(...versions);
  const until = dryRun ? 'before a run' : 'yet';
  return `Not complete: do not raise min_decryption_version of ${keyName} above ${oldest} ${until}.`;
}
