import type { Factor, Finding } from '../../../cluster/score/contract.ts';
import { type Level, levels } from '../../../runtime/report/check-outcome.ts';
import type { SarifRule } from '../../../runtime/report/sarif.ts';

interface FindingRule extends Omit<SarifRule, 'id'> {
  readonly level: Level;
}

/** Errors: pods that ask for protection and run without it. Warnings: ways to bypass the protection. */
const known: Readonly<Record<string, FindingRule>> = {
  'unprotected-pods': {
    level: 'error',
    summary: 'Pods run without the wrapper.',
    help: 'Annotate the pod template or create a ServiceConfig that selects it, then recreate the pods.',
  },
  'unwrapped-container': {
    level: 'error',
    summary: 'A container of a protected pod runs without the wrapper.',
    help: 'Name the container in svc/containers or in the ServiceConfig, or leave both out to wrap them all.',
  },
  'missing-label': {
    level: 'error',
    summary: 'The label svc/protected, by which policy and agent select pods, was removed.',
    help: 'Recreate the pod, and find out who removes the label.',
  },
  'opted-out': {
    level: 'warning',
    summary: 'The pod opts out of the wrapper.',
    help: 'Remove the annotation svc/inject: "false".',
  },
  'secret-reference': {
    level: 'warning',
    summary: 'A Kubernetes Secret reaches the pod.',
    help: 'Move the values to the secrets server, name their path in svc/secret-paths, and drop the reference.',
  },
  'store-credentials': {
    level: 'warning',
    summary: 'A container has credentials of an object store, with which it can bypass the proxy.',
    help: 'Give the credentials to the proxy alone (ServiceConfig proxy.credentialsSecret, or a role of the pod).',
  },
};

/** A finding of a later version counts as a warning. If nothing asks for protection, no pod needs it. */
export function levelOf(id: string, asks: boolean): Level {
  const { level = 'warning' } = known[id] ?? {};
  return level === 'error' && !asks ? 'warning' : level;
}

export const findingRules: readonly SarifRule[] = Object.entries(known).map(([id, { summary, help }]) => ({
  id,
  summary,
  help,
}));

/** How to fix a finding, as a sentence; undefined for unknown ids. */
export function helpFor(id: string): string | undefined {
  return known[id]?.help;
}

/** The findings of all workloads with their subjects, the worst first. */
export function worstFirst(workloads: readonly AuditedWorkload[]): readonly SubjectFinding[] {
  return workloads
    .flatMap((workload) => workload.findings.map((finding) => ({ ...finding, subject: titleOf(workload) })))
    .sort((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level));
}

interface SubjectFinding extends AuditFinding {
  readonly subject: string;
}

/** The factors of a score that do not have all of their points. */
export const lacking = ({ addends }: AuditedWorkload): readonly Factor[] =>
  addends.filter(({ points, of }) => points < of);

/** What stands for the missing factors; undefined if there are some to name. */
export function nothingMissing({ asks, score }: AuditedWorkload): string | undefined {
  if (!asks) return 'does not ask for protection';
  return score === 100 ? 'nothing' : undefined;
}

/** A workload as the audit found it. */
export interface AuditedWorkload {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  /** 0 to 100. */
  readonly score: number;
  /** Number of running pods; if 0, the template is judged. */
  readonly pods: number;
  /** Whether every pod carries the wrapper. */
  readonly protected: boolean;
  /** Whether the workload or its namespace asks for protection; then the operator scores it as well. */
  readonly asks: boolean;
  /** Source of score and factors; the operator's report includes what agents reported. */
  readonly source: 'report' | 'objects';
  /** Why the report was not used, as a sentence. */
  readonly because?: string;
  readonly addends: readonly Factor[];
  readonly findings: readonly AuditFinding[];
}

export interface AuditFinding extends Finding {
  readonly level: Level;
}

export function titleOf({ namespace, kind, name }: Pick<AuditedWorkload, 'namespace' | 'kind' | 'name'>) {
  return `${namespace}/${kind}/${name}`;
}
