import { type Tier, tierNames } from '../../../core/protection/tier.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { NodeAgentState } from '../contract.ts';
import { labelsOf } from './node-metrics.ts';
import type { ReportedHit } from './read-report.ts';
import { TokenBucket } from './token-bucket.ts';

const lines = { burst: 50, perSecond: 2 };
const mostPods = 5;

/** What of the agents' reports is worth a line, however many nodes are under attack at once. */
export class NodeLog {
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #bucket: TokenBucket;
  #leftOut = 0;

  constructor(log: Logger, now: () => number) {
    this.#log = log;
    this.#now = now;
    this.#bucket = new TokenBucket(lines, now());
  }

  /** One line for a report, with counts: the agent's own log has each attempt. */
  hits(node: string, hits: readonly ReportedHit[]): void {
    if (hits.length === 0 || !this.#mayWrite()) return;
    this.#log.warn('node.hits', {
      node,
      hits: hits.reduce((sum, { count }) => sum + count, 0),
      kinds: kindsOf(hits),
      pods: podsOf(hits),
      linesLeftOut: this.#takeLeftOut(),
    });
  }

  state(node: string, now: NodeAgentState | undefined, before: NodeAgentState | undefined): void {
    if (now?.tier === before?.tier && now?.enforcing === before?.enforcing) return;
    if (!this.#mayWrite()) return;
    const linesLeftOut = this.#takeLeftOut();
    if (now === undefined) return this.#log.warn('node.silent', { node, linesLeftOut });
    const { tier, enforcing, reason } = now;
    this.#log.info('node.state', {
      ...{ node, tier: tierNames[tier as Tier], enforcing, ...(reason !== '' && { reason }) },
      ...(now.passedOver.length > 0 && { passedOver: now.passedOver.map(passedOverText) }),
      linesLeftOut,
    });
  }

  #mayWrite(): boolean {
    const may = this.#bucket.take(this.#now());
    if (!may) this.#leftOut += 1;
    return may;
  }

  #takeLeftOut(): number | undefined {
    const count = this.#leftOut;
    this.#leftOut = 0;
    return count === 0 ? undefined : count;
  }
}

const passedOverText = ({ tier, reason }: NodeAgentState['passedOver'][number]): string =>
  `${tierNames[tier as Tier]}: ${reason}`;

/** `environ denied 12`, most frequent first. */
function kindsOf(hits: readonly ReportedHit[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { road, outcome, count } of hits) {
    const labels = labelsOf(road, outcome);
    const kind = `${labels.road} ${labels.outcome}`;
    counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([kind, count]) => `${kind} ${count}`);
}

/** UIDs of pods that were tried. */
function podsOf(hits: readonly ReportedHit[]): readonly string[] {
  const pods = new Set(hits.map(({ targetPod }) => targetPod.slice(0, 36)).filter((uid) => uid !== ''));
  return [...pods].slice(0, mostPods);
}
