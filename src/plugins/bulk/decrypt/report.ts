import { faultLines, number, quoted, restLine } from '../engine/report-text.ts';
import type { Counts, DecryptReport } from './index.ts';

const objects = (count: number): string => (count === 1 ? '1 object' : `${number(count)} objects`);

export const progressLine = ({ listed, done, skipped, bytes }: Counts): string =>
  `${number(done + skipped)} of ${number(listed)} objects listed so far, ${size(bytes)}`;

function size(bytes: number): string {
  const [unit, divisor] =
    bytes >= 1024 ** 3 ? ['GiB', 1024 ** 3] : bytes >= 1024 ** 2 ? ['MiB', 1024 ** 2] : ['KiB', 1024];
  return `${(bytes / (divisor as number)).toFixed(1)} ${unit}`;
}

/** Lines for people: failures first, then the totals. */
export function reportLines(report: DecryptReport): readonly string[] {
  const { renamed, renamedCount } = report;
  return [
    ...faultLines(report, 'more that were not decrypted'),
    ...renamed.map(({ key, path }) => `${quoted(key)}  is in ${quoted(path)}, because its name was taken`),
    ...restLine(renamedCount - renamed.length, 'more under other names'),
    summary(report),
  ];
}

function summary({
  dryRun,
  done,
  unencrypted,
  skipped,
  bytes,
  faultCount,
  faultsByReason,
}: DecryptReport): string {
  const verb = dryRun ? 'To decrypt' : 'Decrypted';
  const reasons = Object.entries(faultsByReason).map(([reason, count]) => `${number(count)} ${reason}`);
  const refused = dryRun ? 'would be refused' : 'not decrypted';
  return [
    `${verb}: ${objects(done)}, ${size(bytes)}`,
    ...(unencrypted > 0 ? [`${number(unencrypted)} of them not encrypted`] : []),
    ...(skipped > 0 ? [`${number(skipped)} already complete`] : []),
    ...(faultCount > 0 ? [`${number(faultCount)} ${refused} (${reasons.join(', ')})`] : []),
  ].join('; ');
}
