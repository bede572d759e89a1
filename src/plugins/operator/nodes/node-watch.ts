import type { Metrics } from '../../../runtime/health/health.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { RateLimitedLog } from '../../../runtime/logging/rate-limited-log.ts';
import { accessOutcomes, accessPaths } from '../../../runtime/protocols/protection/bpf-layouts.ts';
import { type Tier, tierNames } from '../../../runtime/protocols/protection/report.ts';
import type { Leadership, NodeAgentState } from '../contract.ts';
import { NodeRegistry, type NodeRegistryLimits, type Taken } from './node-registry.ts';
import type { NodeReport, ReportedAccessEvent } from './read-report.ts';

export interface NodeWatchOptions {
  readonly limits: NodeRegistryLimits;
  readonly now: () => number;
  readonly log: Logger;
  readonly metrics: NodeMetrics;
  readonly leadership: Leadership;
}

const cleanUpMs = 1_000;

/** Maintains the registry while this replica leads, and reports it in the log and metrics. */
export class NodeWatch {
  readonly registry: NodeRegistry;
  readonly #options: NodeWatchOptions;
  readonly #log: NodeLog;
  readonly #handles: ((node: string) => void)[] = [];
  /** States as last logged. */
  readonly #told = new Map<string, NodeAgentState>();
  readonly #timer: NodeJS.Timeout;
  readonly #forget: () => void;

  constructor(options: NodeWatchOptions) {
    const { limits, now, log, leadership } = options;
    this.#options = options;
    this.#log = new NodeLog(log, now);
    this.registry = new NodeRegistry({ limits, now, onChange: (node) => this.#changed(node) });
    this.#timer = setInterval(() => this.#cleanUp(), cleanUpMs).unref();
    this.#forget = leadership.onChange((leading) => this.#lead(leading));
  }

  onChange(handle: (node: string) => void): void {
    this.#handles.push(handle);
  }

  /** @throws ReportRefused */
  take(report: NodeReport): Taken {
    const taken = this.registry.take(report);
    const { metrics } = this.#options;
    metrics.hits(taken.hits);
    if (taken.dropped > 0) metrics.dropped(taken.dropped);
    this.#log.hits(report.node, taken.hits);
    return taken;
  }

  end(): void {
    clearInterval(this.#timer);
    this.#forget();
    this.#lead(false);
  }

  #lead(leading: boolean): void {
    this.registry.clear();
    this.#told.clear();
    this.#options.metrics.nodes(leading ? [] : undefined);
    this.#options.metrics.silent(leading ? 0 : undefined);
  }

  #cleanUp(): void {
    if (!this.#options.leadership.leading) return;
    this.registry.removeStale();
    this.#options.metrics.nodes(this.registry.agents());
    this.#options.metrics.silent(this.registry.silent);
  }

  #changed(node: string): void {
    const now = this.registry.agentOf(node);
    this.#log.state(node, now, this.#told.get(node));
    if (now === undefined) this.#told.delete(node);
    else this.#told.set(node, now);
    for (const handle of this.#handles) handle(node);
  }
}

const lines = { burst: 50, everyMs: 500 };
const mostPods = 5;

/** Log lines about nodes, limited in number however many nodes are under attack. */
class NodeLog {
  readonly #log: RateLimitedLog;

  constructor(log: Logger, now: () => number) {
    this.#log = new RateLimitedLog(log, lines, now);
  }

  /** One line per report, with counts: the agent's own log has each attempt. */
  hits(node: string, hits: readonly ReportedAccessEvent[]): void {
    if (hits.length === 0) return;
    this.#log.warn('node.hits', (leftOut) => ({
      node,
      hits: hits.reduce((sum, { count }) => sum + count, 0),
      kinds: kindsOf(hits),
      pods: podsOf(hits),
      linesLeftOut: leftOut || undefined,
    }));
  }

  state(node: string, now: NodeAgentState | undefined, before: NodeAgentState | undefined): void {
    if (now?.tier === before?.tier && now?.enforcing === before?.enforcing) return;
    if (now === undefined)
      return this.#log.warn('node.silent', (leftOut) => ({ node, linesLeftOut: leftOut || undefined }));
    const { tier, enforcing, reason } = now;
    this.#log.info('node.state', (leftOut) => ({
      ...{ node, tier: tierNames[tier as Tier], enforcing, ...(reason !== '' && { reason }) },
      ...(now.passedOver.length > 0 && { passedOver: now.passedOver.map(passedOverText) }),
      linesLeftOut: leftOut || undefined,
    }));
  }
}

const passedOverText = ({ tier, reason }: NodeAgentState['passedOver'][number]): string =>
  `${tierNames[tier as Tier]}: ${reason}`;

/** `environ denied 12`, most frequent first. */
function kindsOf(hits: readonly ReportedAccessEvent[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { road, outcome, count } of hits) {
    const labels = labelsOf(road, outcome);
    const kind = `${labels.road} ${labels.outcome}`;
    counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([kind, count]) => `${kind} ${count}`);
}

/** UIDs of the targeted pods. */
function podsOf(hits: readonly ReportedAccessEvent[]): readonly string[] {
  const pods = new Set(hits.map(({ targetPod }) => targetPod.slice(0, 36)).filter((uid) => uid !== ''));
  return [...pods].slice(0, mostPods);
}

export interface NodeMetrics {
  /** @param result `ok`, or the name of a gRPC status in lower case */
  report(result: string): void;
  hits(hits: readonly ReportedAccessEvent[]): void;
  dropped(count: number): void;
  /** Takes the nodes that report to this replica; undefined while another replica receives the reports. */
  nodes(agents: Iterable<NodeAgentState> | undefined): void;
  /** Takes the number of silent nodes; undefined as above. */
  silent(count: number | undefined): void;
}

export function createNodeMetrics(metrics: Metrics): NodeMetrics {
  const reports = metrics.counter('svc_node_reports_total', 'Reports of node agents', ['result']);
  const hits = metrics.counter('svc_node_hits_total', 'Access attempts that agents reported', [
    'road',
    'outcome',
  ]);
  const dropped = metrics.counter('svc_node_dropped_hits_total', 'Access attempts that agents only counted');
  const nodes = metrics.gauge('svc_nodes', 'Nodes whose agent reports, by what it enforces', [
    'tier',
    'enforcing',
  ]);
  const silent = metrics.gauge(
    'svc_nodes_silent',
    'Nodes whose agent stopped reporting, up to ten minutes ago',
  );
  return {
    report: (result) => reports.inc({ result }),
    hits(all) {
      for (const { road, outcome, count } of all) hits.inc(labelsOf(road, outcome), count);
    },
    dropped: (count) => dropped.inc({}, count),
    silent: (count) => (count === undefined ? silent.remove({}) : silent.set(count)),
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

/** Names that only later agents know share one label value. */
function labelsOf(road: string | number, outcome: string | number) {
  return {
    road: accessPaths.find((one) => road === `ROAD_${one.toUpperCase()}`) ?? 'other',
    outcome: accessOutcomes.find((one) => outcome === `OUTCOME_${one.toUpperCase()}`) ?? 'other',
  };
}
