import { type Level, levels } from '../../../core/checks/contract.ts';
import { printable } from '../../../runtime/cli/report/printable.ts';
import { wrapped } from '../../../runtime/cli/report/wrap.ts';
import type { Style } from '../../../runtime/cli/terminal.ts';
import { type AuditedWorkload, titleOf } from './audited.ts';
import { helpFor } from './finding-level.ts';

const most = 40;
const width = 98;
const styles: Readonly<Record<Level, Style>> = { error: 'red', warning: 'yellow', info: 'dim' };

/** The worst first, then how each kind is mended; more than 40 are counted. */
export function findingLines(
  workloads: readonly AuditedWorkload[],
  paint: (style: Style, text: string) => string,
): readonly string[] {
  const all = workloads.flatMap((workload) =>
    workload.findings.map((finding) => ({ ...finding, subject: titleOf(workload) })),
  );
  const sorted = all.sort((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level));
  const shown = sorted.slice(0, most).map(({ level, id, subject, message }) => {
    const text = wrapped(printable(`${id}  ${subject}: ${message}`), width - level.length - 3, '    ');
    return `- ${paint(styles[level], level)} ${text}`;
  });
  const rest = all.length > most ? [`- and ${all.length - most} more; -o json has them all`] : [];
  const ids = [...new Set(sorted.map(({ id }) => id))];
  const helps = ids.flatMap((id) => {
    const help = helpFor(id);
    return help === undefined ? [] : [`  ${wrapped(`${id}: ${help}`, width - 2, '    ')}`];
  });
  return [...shown, ...rest, ...helps];
}
