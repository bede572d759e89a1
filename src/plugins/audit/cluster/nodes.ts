import { counted } from '../../../core/counted.ts';
import type { NodeReport } from '../../../core/custom-resources/protection-report.ts';
import { type Tier, tierNames } from '../../../core/protection/tier.ts';
import { tableText } from '../../../runtime/cli/report/table.ts';
import { wrapped } from '../../../runtime/cli/report/wrap.ts';
import type { Paint } from '../../../runtime/cli/terminal.ts';
import type { ClusterObjects } from './collections.ts';
import type { OperatorState } from './operator-state.ts';

/** What the agent of a node enforces, as the operator was told. */
export interface AuditedNode extends NodeReport {
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
  const found = new Map<string, NodeReport>();
  for (const { namespace, status } of reports.values()) {
    if (namespaces?.includes(namespace) === false) continue;
    for (const node of status?.nodes ?? []) {
      const known = found.get(node.name);
      // while a change spreads, one report is older than another
      if (known === undefined || weaker(node, known)) found.set(node.name, node);
    }
  }
  return [...found.values()]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, tier, enforcing, reason, passedOver }) => ({
      ...{ name, tier, tierName: nameOf(tier), enforcing },
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

/** A row a node of which there is something to say, and how many there are of the others. */
export function nodeLines(nodes: readonly AuditedNode[], paint: Paint): readonly string[] {
  const lacking = nodes.filter((node) => node.tier !== 1 || !node.enforcing || whyNot(node) !== '');
  const full = nodes.length - lacking.length;
  const rows = lacking.map((node) => [
    node.name,
    node.tierName,
    { text: node.enforcing ? 'yes' : 'no', paint: (text: string) => paint(colourOf(node), text) },
    whyNot(node) || 'the agent does not tell',
  ]);
  return [
    ...(rows.length > 0 ? [tableText(columns, rows)] : []),
    ...(full > 0 ? [wrapped(`${counted(full, 'node')} on tier lsm, enforcing.`, 98, '  ')] : []),
  ];
}

function whyNot({ reason, passedOver = [] }: AuditedNode): string {
  const tiers = passedOver.map((one) => `${nameOf(one.tier)}: ${one.reason}`);
  return [...(reason === undefined ? [] : [reason]), ...tiers].join('; ');
}

function weaker(a: NodeReport, b: NodeReport): boolean {
  if (a.enforcing !== b.enforcing) return b.enforcing;
  return a.tier > b.tier;
}

const colourOf = ({ tier, enforcing }: AuditedNode) => {
  if (!enforcing) return 'red';
  return tier === 3 ? 'yellow' : 'green';
};

const nameOf = (tier: number): string => tierNames[tier as Tier] ?? String(tier);
