import type { Paint } from '../../../runtime/cli/terminal.ts';
import {
  type CheckFinding,
  type CheckOutcome,
  type FailOn,
  outcomeOf,
} from '../../../runtime/report/check-outcome.ts';
import { type Cell, tableText } from '../../../runtime/report/report-table.ts';
import { outcomeText, printable, sectionsText } from '../../../runtime/report/report-text.ts';
import type { AuditId } from './progress-file.ts';
import type { Estimate, ObjectSample, Tally } from './tally.ts';

const columns = [
  { title: 'OBJECTS', width: 60 },
  { title: 'NUMBER', width: 14, align: 'right' },
  { title: 'SHARE', width: 10, align: 'right' },
] as const;

/** Kinds of objects, their keys, and unencrypted objects; at most 100 columns except for long keys. */
export function bucketText(report: BucketReport, paint: Paint): string {
  const { bucket, prefix, sample, tally } = report;
  const where = prefix === '' ? bucket : `${bucket}/${prefix}`;
  return sectionsText([
    [paint('bold', printable(`Bucket ${where}`)), tableText(columns, rows(report))],
    listed('Not encrypted:', tally.plaintextKeys, tally.plaintext, paint),
    listed('Metadata that cannot be read:', tally.unreadableKeys, tally.unreadable, paint),
    sample === undefined ? [] : [sampleText(sample.listed, sample.looked, sample.encrypted)],
    [outcomeText(report.outcome, paint)],
  ]);
}

function rows({ tally }: BucketReport): readonly (readonly Cell[])[] {
  const there = tally.objects - tally.vanished;
  const row = (title: string, number: number) => [title, number.toLocaleString('en'), percent(number, there)];
  const each = (title: string, counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
      .map(([name, number]) => row(`  ${title} ${name}`, number));
  return [
    row('ciphertext', tally.encrypted),
    ...each('key', tally.keyVersions),
    ...each('algorithm', tally.algorithms),
    ...each('form', tally.forms),
    ...each('bound to', tally.bindings),
    ...each('recoverable by', tally.recovery),
    row('not encrypted', tally.plaintext),
    row('metadata cannot be read', tally.unreadable),
    ...each('because of', tally.errors),
    ['helper objects of the proxy, not examined', tally.helpers.toLocaleString('en'), ''],
    ['gone before they were examined', tally.vanished.toLocaleString('en'), ''],
  ];
}

function percent(number: number, all: number): string {
  if (all === 0) return '';
  const share = (number / all) * 100;
  // 100 % and 0 % are shown only for all and none
  if (number < all && share > 99.9) return '>99.9 %';
  if (number > 0 && share < 0.1) return '<0.1 %';
  return `${share.toFixed(1)} %`;
}

function listed(title: string, keys: readonly string[], all: number, paint: Paint): readonly string[] {
  if (all === 0) return [];
  const rest = all - keys.length;
  const more =
    rest > 0
      ? [`- ${keys.length > 0 ? 'and ' : ''}${rest.toLocaleString('en')} more; --list shows more`]
      : [];
  return [paint('bold', title), ...keys.map((key) => `- ${printable(key)}`), ...more];
}

function sampleText(all: number, looked: number, encrypted: Estimate | undefined): string {
  const head = `A sample of ${looked.toLocaleString('en')} out of ${all.toLocaleString('en')} objects was examined`;
  if (encrypted === undefined) return `${head}.`;
  const [low, high] = [encrypted.low, encrypted.high].map((share) => `${(share * 100).toFixed(1)} %`);
  return `${head}:\nbetween ${low} and ${high} of all are ciphertext, with 95 % confidence.`;
}

/** The report on a bucket. `version` is the version of this format: members are added, never changed. */
export interface BucketReport {
  readonly version: 1;
  readonly kind: 'bucket';
  readonly store: string;
  readonly bucket: string;
  readonly prefix: string;
  /** Only for a sample; then everything below except for `helpers` is about the sample. */
  readonly sample?: ObjectSample;
  readonly tally: Tally;
  readonly outcome: CheckOutcome;
}

export function bucketReport(
  { store, bucket, prefix }: AuditId,
  tally: Tally,
  sample: ObjectSample | undefined,
  failOn: FailOn,
): BucketReport {
  const found = { error: tally.plaintext + tally.unreadable, warning: 0, info: 0 };
  return {
    ...{ version: 1, kind: 'bucket', store, bucket, prefix },
    ...(sample && { sample }),
    tally,
    outcome: outcomeOf(found, failOn),
  };
}

export const bucketRules = [
  {
    id: 'plaintext-object',
    summary: 'An object is stored as it was written, without encryption by svc.',
    help: 'Read it and write it again through the proxy, and find out who bypasses the proxy.',
  },
  {
    id: 'unreadable-metadata',
    summary:
      'The metadata of svc is incomplete, altered, or does not match the object, so it cannot be read.',
    help: 'Restore the object from a version or copy whose metadata is intact.',
  },
] as const;

/** One finding for each listed key, and one for all others. */
export function bucketFindings({ bucket, tally }: BucketReport): readonly CheckFinding[] {
  const of = (rule: (typeof bucketRules)[number], keys: readonly string[], all: number): CheckFinding[] => {
    const finding = { id: rule.id, level: 'error' } as const;
    const each = keys.map((key) => ({ ...finding, subject: `${bucket}/${key}`, message: rule.summary }));
    const rest = all - keys.length;
    if (rest <= 0) return each;
    return [
      ...each,
      { ...finding, subject: bucket, message: `${rest} more that are not listed. ${rule.summary}` },
    ];
  };
  const [plaintext, unreadable] = bucketRules;
  return [
    ...of(plaintext, tally.plaintextKeys, tally.plaintext),
    ...of(unreadable, tally.unreadableKeys, tally.unreadable),
  ];
}
