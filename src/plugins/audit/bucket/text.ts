import { outcomeText } from '../../../runtime/cli/report/outcome-text.ts';
import { printable } from '../../../runtime/cli/report/printable.ts';
import { sectionsText } from '../../../runtime/cli/report/sections.ts';
import { type Cell, tableText } from '../../../runtime/cli/report/table.ts';
import type { Paint } from '../../../runtime/cli/terminal.ts';
import type { BucketReport } from './report.ts';
import type { Estimate } from './sample.ts';

const columns = [
  { title: 'OBJECTS', width: 60 },
  { title: 'NUMBER', width: 14, align: 'right' },
  { title: 'SHARE', width: 10, align: 'right' },
] as const;

/** What the objects are, under which keys, and those that are not encrypted; at most 100 columns but for long keys. */
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
    row('not encrypted', tally.plaintext),
    row('metadata cannot be read', tally.unreadable),
    ...each('because of', tally.mistakes),
    ['helper objects of the proxy, not looked into', tally.helpers.toLocaleString('en'), ''],
    ['gone before they were looked at', tally.vanished.toLocaleString('en'), ''],
  ];
}

function percent(number: number, all: number): string {
  if (all === 0) return '';
  const share = (number / all) * 100;
  // 100 % and 0 % are said of all and of none only
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
  const head = `A sample of ${looked.toLocaleString('en')} out of ${all.toLocaleString('en')} objects was looked at`;
  if (encrypted === undefined) return `${head}.`;
  const [low, high] = [encrypted.low, encrypted.high].map((share) => `${(share * 100).toFixed(1)} %`);
  return `${head}:\nbetween ${low} and ${high} of all are ciphertext, with 95 % confidence.`;
}
