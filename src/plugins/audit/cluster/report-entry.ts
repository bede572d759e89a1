import type {
  ProtectionReportStatus,
  WorkloadReport,
} from '../../../core/custom-resources/protection-report.ts';
import type { Addend, Score, WorkloadFacts } from '../../../core/score/contract.ts';
import { scoreOf } from '../../../core/score/score-of.ts';
import type { OperatorState } from './operator-state.ts';

/** The operator's word about a workload, or why it is not taken, as a sentence. */
export type Entry = { readonly report: WorkloadReport } | { readonly because: string };

/**
 * It is taken while an operator leads and it agrees with the cluster in what both can see: what only the agents tell
 * can then be believed.
 */
export function reportEntry(
  status: ProtectionReportStatus | undefined,
  operator: OperatorState,
  facts: WorkloadFacts,
  own: Score,
): Entry {
  if (!operator.alive) return { because: operator.because };
  if (status === undefined) return { because: 'The namespace has no ProtectionReport yet.' };
  const report = status.workloads?.find(({ kind, name }) => kind === own.kind && name === own.name);
  if (report === undefined) return { because: missing(status) };
  if (report.pods !== own.pods)
    return { because: `The ProtectionReport knows ${report.pods} pods of it, and there are ${own.pods}.` };
  if (!isSound(report)) return { because: 'The ProtectionReport contradicts itself.' };
  if (!agrees(report, facts))
    return { because: 'The ProtectionReport tells of pods that are not there now.' };
  return { report };
}

function missing({ summary }: ProtectionReportStatus): string {
  return (summary?.leftOut ?? 0) > 0
    ? 'The ProtectionReport had no room for it.'
    : 'The ProtectionReport does not know it yet.';
}

function isSound({ score, addends }: WorkloadReport): boolean {
  const parts = addends.every(({ points, of }) => points >= 0 && points <= of);
  return parts && addends.reduce((sum, { points }) => sum + points, 0) === score && score <= 100;
}

/** Addends that nobody but the pod itself decides. */
const visible = ['wrapper', 'references'];

/** One of its pods, or its template, has what the report says of the worst one. */
function agrees(report: WorkloadReport, facts: WorkloadFacts): boolean {
  const each = facts.pods.length === 0 ? [facts] : facts.pods.map((pod) => ({ ...facts, pods: [pod] }));
  return each.some((one) => {
    const { addends } = scoreOf(one);
    return visible.every((name) => pointsOf(addends, name) === pointsOf(report.addends, name));
  });
}

const pointsOf = (addends: readonly Addend[], name: string) =>
  addends.find((one) => one.name === name)?.points;
