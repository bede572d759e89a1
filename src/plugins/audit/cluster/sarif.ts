import type { CheckFinding } from '../../../core/checks/contract.ts';
import type { SarifRule } from '../../../core/checks/sarif.ts';
import { type AuditedWorkload, titleOf } from './audited.ts';
import { findingRules } from './finding-level.ts';
import type { ClusterReport } from './report.ts';

const scoreRule: SarifRule = {
  id: 'protection-score',
  summary: 'A workload is protected less than it could be.',
  help: 'Do what the message names; the weights are explained in the documentation of the protection score.',
};

export const sarifRules: readonly SarifRule[] = [...findingRules, scoreRule];

/** A score is an error where it is too low, and otherwise for information. */
export function sarifFindings({ workloads }: ClusterReport, minScore = 0): readonly CheckFinding[] {
  return workloads.flatMap((workload) => {
    const subject = titleOf(workload);
    const own = workload.findings.map(({ id, level, message }) => ({ id, level, subject, message }));
    if (workload.score === 100) return own;
    const level = workload.score < minScore ? 'error' : 'info';
    return [...own, { id: scoreRule.id, level, subject, message: scoreMessage(workload) }];
  });
}

function scoreMessage({ score, addends }: AuditedWorkload): string {
  const steps = addends.flatMap(({ name, points, of, remedy }) =>
    points < of ? [`${name} ${points} of ${of}${remedy === undefined ? '' : `: ${remedy}`}`] : [],
  );
  return [`Its score is ${score} of 100.`, ...steps].join(' ');
}
