import type { Outcome } from '../../../core/checks/contract.ts';
import { countLevels, outcomeOf } from '../../../core/checks/outcome.ts';
import type { AuditFlags } from '../contract.ts';
import type { AuditTerms } from '../terms.ts';
import { type AuditedWorkload, titleOf } from './audited.ts';
import type { AuditedNode } from './nodes.ts';

/** What was found in a cluster. `version` is that of this form: members are added, never changed. */
export interface ClusterReport {
  readonly version: 1;
  readonly kind: 'cluster';
  readonly server: string;
  readonly summary: ClusterSummary;
  /** Those that the filters let through. */
  readonly workloads: readonly AuditedWorkload[];
  /** That pods of the shown namespaces run on, as the operator's reports tell of them; none without an operator. */
  readonly nodes: readonly AuditedNode[];
  readonly outcome: Outcome;
}

export interface ClusterFound {
  readonly workloads: readonly AuditedWorkload[];
  readonly nodes: readonly AuditedNode[];
}

/** Of all that were audited, shown or not. */
export interface ClusterSummary {
  readonly workloads: number;
  readonly asking: number;
  readonly protected: number;
  /** Absent where there is no workload. */
  readonly lowestScore?: number;
  /** Scored from the operator's reports. */
  readonly fromReports: number;
  readonly findings: ReturnType<typeof countLevels>;
  readonly shown: number;
}

export function clusterReport(
  server: string,
  found: ClusterFound,
  flags: AuditFlags,
  terms: AuditTerms,
): ClusterReport {
  const audited = flags.scope === 'all' ? found.workloads : found.workloads.filter(({ asks }) => asks);
  const shown = audited.filter(filterOf(flags, terms));
  const summary = { ...summaryOf(audited), shown: shown.length };
  const outcome = outcomeOf(summary.findings, terms.failOn, tooLow(audited, terms.minScore));
  const { nodes } = found;
  return { version: 1, kind: 'cluster', server, summary, workloads: shown, nodes, outcome };
}

function summaryOf(all: readonly AuditedWorkload[]): Omit<ClusterSummary, 'shown'> {
  const count = (that: (one: AuditedWorkload) => boolean) => all.filter(that).length;
  return {
    workloads: all.length,
    asking: count(({ asks }) => asks),
    protected: count((one) => one.protected),
    ...(all.length > 0 && { lowestScore: all.reduce((least, { score }) => Math.min(least, score), 100) }),
    fromReports: count(({ source }) => source === 'report'),
    findings: countLevels(all.flatMap(({ findings }) => findings)),
  };
}

function filterOf({ namespace, kind }: AuditFlags, { below }: AuditTerms): (one: AuditedWorkload) => boolean {
  const kinds = kind?.map((one) => one.toLowerCase());
  return (one) =>
    (namespace?.includes(one.namespace) ?? true) &&
    (kinds?.includes(one.kind.toLowerCase()) ?? true) &&
    (below === undefined || one.score < below);
}

function tooLow(all: readonly AuditedWorkload[], minScore: number | undefined): readonly string[] {
  if (minScore === undefined) return [];
  const low = all.filter(({ score }) => score < minScore).sort((a, b) => a.score - b.score);
  const [lowest] = low;
  if (lowest === undefined) return [];
  const those = low.length === 1 ? '1 workload has' : `${low.length} workloads have`;
  return [`${those} less than --min-score ${minScore}, ${titleOf(lowest)} the least with ${lowest.score}.`];
}
