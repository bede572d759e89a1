import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { CHART } from '../../../test/support/helm.ts';
import { cell, code, lines } from './cell.ts';

const pattern =
  /(?<reason>(?:^ {2}# .+\n)+) {2}- apiGroups: \[(?<groups>.*)\]\n {4}resources: \[(?<resources>.*)\]\n(?: {4}resourceNames: \[(?<names>.*)\]\n)? {4}verbs: \[(?<verbs>.*)\]$/gm;

/** What the operator may do, where, and why: the rules of its two roles with the comments above them. */
export function permissionTable(): string[] {
  const rows = [...rowsOf('cluster-role.yaml', 'cluster'), ...rowsOf('role.yaml', 'svc-system')];
  return markdownTable(['resource', 'verbs', 'where', 'why'], rows);
}

/** @throws Error where a rule is written otherwise than the others, and would be left out */
function rowsOf(file: string, where: string): string[][] {
  const text = readFileSync(join(CHART, 'templates/operator', file), 'utf8');
  const rules = [...text.matchAll(pattern)].map(({ groups = {} }) => groups);
  if (rules.length !== text.match(/^ {2}- apiGroups:/gm)?.length)
    throw new Error(`${file} has other rules, too`);
  let reason = '';
  return rules.map((rule) => {
    // a reason that goes on from the one before
    reason = (rule['reason'] ?? '')
      .replace(/^ {2}# /gm, '')
      .trim()
      .replace(/^As above/, reason);
    return [resourcesOf(rule), cell(rule['verbs'] ?? ''), where, cell(reason)];
  });
}

function resourcesOf({ groups = '', resources = '', names }: Readonly<Record<string, string | undefined>>) {
  const all = groups
    .split(', ')
    .flatMap((group) =>
      resources.split(', ').map((name) => code(name) + (group === '""' ? '' : ` of ${code(group)}`)),
    );
  return lines(...all, names === undefined ? '' : `only ${code(names)}`);
}
