import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { code, lines } from './cell.ts';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
}

const file = new URL('../../../manifests/chart/files/alerts.yaml', import.meta.url);

/** The alert rules that are shipped. */
export function alertTable(): string[] {
  const { groups } = parse(readFileSync(file, 'utf8')) as { groups: readonly { rules: readonly Alert[] }[] };
  const rows = groups
    .flatMap(({ rules }) => rules)
    .map((rule) => [lines(code(rule.alert), `for ${rule.for}`, rule.labels.severity), code(rule.expr)]);
  return markdownTable(['alert', 'fires while'], rows);
}
