import { outcomes, roads } from '../../../core/protection/road.ts';
import { type Tier, tierNames } from '../../../core/protection/tier.ts';
import type { Metrics } from '../../../runtime/health/metrics.ts';
import type { NodeAgentState } from '../contract.ts';
import type { ReportedHit } from './read-report.ts';

export interface NodeMetrics {
  /** `ok`, or the name of a gRPC status in small letters. */
  report(result: string): void;
  hits(hits: readonly ReportedHit[]): void;
  dropped(count: number): void;
  /** Of the nodes that are told of now; undefined while another replica is told. */
  nodes(agents: Iterable<NodeAgentState> | undefined): void;
}

export function createNodeMetrics(metrics: Metrics): NodeMetrics {
  const reports = metrics.counter('svc_node_reports_total', 'Reports of node agents', ['result']);
  const hits = metrics.counter('svc_node_hits_total', 'Attempts on protected processes that agents told', [
    'road',
    'outcome',
  ]);
  const dropped = metrics.counter(
    'svc_node_dropped_hits_total',
    'Attempts that agents counted and could not tell one by one',
  );
  const nodes = metrics.gauge('svc_nodes', 'Nodes whose agent reports, by what it enforces', [
    'tier',
    'enforcing',
  ]);
  return {
    report: (result) => reports.inc({ result }),
    hits(all) {
      for (const { road, outcome, count } of all) hits.inc(labelsOf(road, outcome), count);
    },
    dropped: (count) => dropped.inc({}, count),
    nodes(agents) {
      for (const kind of kinds) {
        if (agents === undefined) nodes.remove(kind);
      }
      if (agents === undefined) return;
      const counts = countBy(agents);
      for (const kind of kinds) nodes.set(counts.get(keyOf(kind)) ?? 0, kind);
    },
  };
}

interface Kind extends Readonly<Record<string, string>> {
  readonly tier: string;
  readonly enforcing: string;
}

const kinds: readonly Kind[] = Object.values(tierNames).flatMap((tier) =>
  ['true', 'false'].map((enforcing) => ({ tier, enforcing })),
);

const keyOf = ({ tier, enforcing }: Kind): string => `${tier} ${enforcing}`;

function countBy(agents: Iterable<NodeAgentState>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { tier, enforcing } of agents) {
    const key = keyOf({ tier: tierNames[tier as Tier], enforcing: String(enforcing) });
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** What a later version of the agent calls otherwise is one value more, however many names it has. */
export function labelsOf(road: string | number, outcome: string | number) {
  return {
    road: roads.find((one) => road === `ROAD_${one.toUpperCase()}`) ?? 'other',
    outcome: outcomes.find((one) => outcome === `OUTCOME_${one.toUpperCase()}`) ?? 'other',
  };
}
