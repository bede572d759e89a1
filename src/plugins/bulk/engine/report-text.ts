import { printable } from '../../../runtime/report/report-text.ts';
import type { FaultReport } from './faults.ts';

export const number = (count: number): string => count.toLocaleString('en');

export const quoted = (text: string): string => printable(JSON.stringify(text));

/** @param what what did not happen to those that are not listed: `more that were not …` */
export function faultLines({ faults, faultCount }: FaultReport, what: string): readonly string[] {
  return [
    ...faults.map(({ key, reason, message }) => `${quoted(key)}  ${reason}: ${printable(message)}`),
    ...restLine(faultCount - faults.length, what),
  ];
}

/** For those that are only counted. */
export const restLine = (count: number, what: string): readonly string[] =>
  count > 0 ? [`… and ${number(count)} ${what}`] : [];

/** For people: the bucket, or the part of it that was asked for. */
export const whereOf = ({ bucket, prefix }: { readonly bucket: string; readonly prefix: string }): string =>
  printable(prefix === '' ? `bucket ${bucket}` : `s3://${bucket}/${prefix}`);
