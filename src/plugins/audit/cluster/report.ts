import type { NodeReportEntry } from '../../../cluster/resources/protection-report.ts';
import type { Paint } from '../../../runtime/cli/terminal.ts';
import { type Tier, tierNames } from '../../../runtime/protocols/protection/report.ts';
import { type CheckOutcome, countLevels, outcomeOf } from '../../../runtime/report/check-outcome.ts';
import { coloured, tableText } from '../../../runtime/report/report-table.ts';
import { reportWidth, wrapped } from '../../../runtime/report/report-text.ts';
import { counted } from '../../../runtime/units.ts';
import type { AuditFlags, AuditTerms } from '../terms.ts';
import type { ClusterObjects, OperatorState } from './collections.ts';
import { type AuditedWorkload, titleOf } from './findings.ts';

/** The report on a cluster. `version` is the version of this format: members are added, never changed. */
export interface ClusterReport {
  readonly version: 1;
  readonly kind: 'cluster';
  readonly server: string;
  readonly summary: ClusterSummary;
  /** Workloads that pass the filters. */
  readonly workloads: readonly AuditedWorkload[];
  /** Nodes that run pods of the shown namespaces, from the operator's reports; none without an operator. */
  readonly nodes: readonly AuditedNode[];
  readonly outcome: CheckOutcome;
}

export interface ClusterFound {
  readonly workloads: readonly AuditedWorkload[];
  readonly nodes: readonly AuditedNode[];
}

/** Counts of all audited workloads, shown or not. */
export interface ClusterSummary {
  readonly workloads: number;
  readonly asking: number;
  readonly protected: number;
  /** Absent if there is no workload. */
  readonly lowestScore?: number;
  /** Number of workloads scored from the operator's reports. */
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

/** Grades in which scores are shown. */
export type Grade = 'bad' | 'fair' | 'good';

/** The recommended alert fires below `fair`. */
export const minScores = { fair: 50, good: 75 } as const;

export function gradeOf(score: number): Grade {
  if (score < minScores.fair) return 'bad';
  return score < minScores.good ? 'fair' : 'good';
}

/** What a node's agent enforces, as reported to the operator. */
interface AuditedNode extends NodeReportEntry {
  /** Such as `lsm`. */
  readonly tierName: string;
}

/**
 * The nodes of all reports that an operator keeps, by name.
 * @param namespaces whose reports count; absent: all
 */
export function auditedNodes(
  { reports }: Pick<ClusterObjects, 'reports'>,
  operator: OperatorState,
  namespaces: readonly string[] | undefined,
): readonly AuditedNode[] {
  if (!operator.alive) return [];
  const found = new Map<string, NodeReportEntry>();
  for (const { namespace, status } of reports.values()) {
    if (namespaces?.includes(namespace) === false) continue;
    for (const node of status?.nodes ?? []) {
      const known = found.get(node.name);
      // while a change spreads, some reports are older: the weaker state counts
      if (known === undefined || weaker(node, known)) found.set(node.name, node);
    }
  }
  return [...found.values()]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, tier, enforcing, reason, passedOver }) => ({
      name,
      tier,
      tierName: nameOf(tier),
      enforcing,
      ...(reason !== undefined && { reason }),
      ...(passedOver !== undefined && { passedOver }),
    }));
}

const columns = [
  { title: 'NODE', width: 30 },
  { title: 'TIER', width: 10 },
  { title: 'ENFORCES', width: 8 },
  { title: 'WHY NOT MORE', width: 44 },
] as const;

/** One row per node with something to report, and the number of the others. */
export function nodeLines(nodes: readonly AuditedNode[], paint: Paint): readonly string[] {
  const lacking = nodes.filter((node) => node.tier !== 1 || !node.enforcing || whyNot(node) !== '');
  const full = nodes.length - lacking.length;
  const rows = lacking.map((node) => [
    node.name,
    node.tierName,
    coloured(paint, colourOf(node), node.enforcing ? 'yes' : 'no'),
    whyNot(node) || 'the agent does not say',
  ]);
  return [
    ...(rows.length > 0 ? [tableText(columns, rows)] : []),
    ...(full > 0 ? [wrapped(`${counted(full, 'node')} on tier lsm, enforcing.`, reportWidth, '  ')] : []),
  ];
}

/** Why a node is not on the highest tier, or does not enforce; empty if it has neither problem. */
export function whyNot({ reason, passedOver = [] }: AuditedNode): string {
  const tiers = passedOver.map((one) => `${nameOf(one.tier)}: ${one.reason}`);
  return [...(reason === undefined ? [] : [reason]), ...tiers].join('; ');
}

function weaker(a: NodeReportEntry, b: NodeReportEntry): boolean {
  if (a.enforcing !== b.enforcing) return b.enforcing;
  return a.tier > b.tier;
}

const colourOf = ({ tier, enforcing }: AuditedNode) => {
  if (!enforcing) return 'red';
  return tier === 3 ? 'yellow' : 'green';
};

const nameOf = (tier: number): string => tierNames[tier as Tier] ?? String(tier);
