import { isDeepStrictEqual } from 'node:util';
import { type AuditedWorkload, titleOf } from './audited.ts';
import type { ClusterReport } from './report.ts';

/** One line of `--watch`. `version` is that of this form. */
export interface WorkloadChange {
  readonly version: 1;
  readonly change: 'added' | 'changed' | 'removed';
  readonly workload: AuditedWorkload;
}

/** From one report to the next; at first everything is added. */
export function changesBetween(
  before: Pick<ClusterReport, 'workloads'> | undefined,
  now: Pick<ClusterReport, 'workloads'>,
): readonly WorkloadChange[] {
  const old = byTitle(before?.workloads ?? []);
  const current = byTitle(now.workloads);
  const put = [...current].flatMap(([title, workload]) => {
    const known = old.get(title);
    if (isDeepStrictEqual(known, workload)) return [];
    return [change(known === undefined ? 'added' : 'changed', workload)];
  });
  const gone = [...old].flatMap(([title, workload]) =>
    current.has(title) ? [] : [change('removed', workload)],
  );
  return [...put, ...gone];
}

const change = (kind: WorkloadChange['change'], workload: AuditedWorkload): WorkloadChange => ({
  ...{ version: 1, change: kind, workload },
});

const byTitle = (workloads: readonly AuditedWorkload[]) =>
  new Map(workloads.map((one) => [titleOf(one), one]));
