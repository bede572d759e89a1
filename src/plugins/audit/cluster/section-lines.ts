import { printable } from '../../../runtime/cli/report/printable.ts';
import { wrapped } from '../../../runtime/cli/report/wrap.ts';
import { type AuditedWorkload, titleOf } from './audited.ts';

const width = 98;

/** A line for each addend and remedy, that which brings the most first; of what asks for protection alone. */
export function missingLines(workloads: readonly AuditedWorkload[]): readonly string[] {
  const groups = new Map<string, { text: string; points: number; workloads: number }>();
  for (const { asks, addends } of workloads)
    for (const { name, points, of, remedy } of asks ? addends : []) {
      if (points >= of || remedy === undefined) continue;
      const key = `${name}: ${remedy}`;
      const group = groups.get(key) ?? { text: key, points: 0, workloads: 0 };
      groups.set(key, { text: key, points: group.points + of - points, workloads: group.workloads + 1 });
    }
  return [...groups.values()]
    .sort((a, b) => b.points - a.points)
    .map(({ text, workloads }) => wrapped(printable(`- ${text}${counted(workloads)}`), width, '  '));
}

/** Why the operator's word was not taken, by reason; of those that ask for protection. */
export function sourceLines(workloads: readonly AuditedWorkload[]): readonly string[] {
  const own = workloads.filter(({ asks, source }) => asks && source === 'objects');
  return [...Map.groupBy(own, ({ because = '' }) => because)].map(([because, those]) => {
    const [first] = those;
    const whose = those.length === 1 && first !== undefined ? titleOf(first) : `${those.length} workloads`;
    return wrapped(printable(`- ${whose}: ${because}`), width, '  ');
  });
}

const counted = (count: number) => (count === 1 ? ' (1 workload)' : ` (${count} workloads)`);
