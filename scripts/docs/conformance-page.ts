import type { Cause } from '../../test/conformance/s3-suite/compare.ts';
import { type Measurement, measurements } from '../../test/conformance/s3-suite/measurements.ts';
import { markdownTable } from '../../test/plugins/agent/bypass/markdown-table.ts';

/** docs/CONFORMANCE.md: what suites of others find through the proxy. */
export const conformanceFile = new URL('../../docs/CONFORMANCE.md', import.meta.url);

export function conformancePage(): string {
  return [...head, ...summary(), ...measurements.flatMap(causes)].join('\n');
}

const head = [
  '# Conformance with S3',
  '',
  '[All pages](README.md)',
  '',
  '<!-- Written by `npm run docs`; a test compares it. -->',
  '',
  'Two suites that others wrote are run against a store and, at the same time, through the proxy in front of another one. A row is',
  'lost if it passes at the store and fails through the proxy; rows that fail at the store itself do not count. The run fails if a',
  'row is lost that is not counted here, or one that is counted here passes:',
  '',
  '```sh',
  'npm run conformance -- s3-suite minio-go-suite',
  '```',
  '',
  '- `s3-suite`: the integration tests of versitygw 1.8.0, by its authors, with all that they expect of words and details. Most of',
  '  them fail at MinIO, which has words of its own.',
  "- `minio-go-suite`: the functional tests of MinIO's client library for Go, 7.4.1, without those that need TLS, a key management",
  '  of the store, or 10,000 sources.',
  '',
  'The proxy has caller keys and runs with `--envelope-headers hidden`. By default 12 more rows of `s3-suite` are lost at versitygw:',
  "they compare an object's metadata with what they wrote, and see the `x-amz-meta-svc-*` headers beside it.",
  '',
  'A decision is an answer that is meant to differ; a defect is still to be fixed.',
  '',
];

const count = (causes: readonly Cause[]): number => causes.reduce((sum, { rows }) => sum + rows.length, 0);

function summary(): string[] {
  const rows = measurements.map(({ suite, store, passing, lost }) => {
    const of = (kind: Cause['kind']) => count(lost.filter((one) => one.kind === kind));
    const numbers = [passing, passing - count(lost), of('decision'), of('defect')];
    return [`\`${suite}\``, shown[store], ...numbers.map(String)];
  });
  const columns = ['pass at the store', 'pass through the proxy', 'lost by decision', 'lost by defect'];
  return [...markdownTable(['suite', 'store', ...columns], rows), ''];
}

const shown: Readonly<Record<Measurement['store'], string>> = { versitygw: 'versitygw', minio: 'MinIO' };

function causes({ suite, store, lost }: Measurement): string[] {
  const rows = lost.map(({ kind, cause, rows }) => [String(rows.length), kind, cause]);
  return [`## ${suite}, ${shown[store]}`, '', ...markdownTable(['rows', '', 'why they are lost'], rows), ''];
}
