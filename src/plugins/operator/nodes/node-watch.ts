import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Leadership, NodeAgentState } from '../contract.ts';
import { type BookLimits, NodeBook, type Taken } from './node-book.ts';
import { NodeLog } from './node-log.ts';
import type { NodeMetrics } from './node-metrics.ts';
import type { NodeReport } from './read-report.ts';

export interface NodeWatchOptions {
  readonly limits: BookLimits;
  readonly now: () => number;
  readonly log: Logger;
  readonly metrics: NodeMetrics;
  readonly leadership: Leadership;
}

const sweepMs = 1_000;

/** Keeps the book while this replica leads, and shows it. */
export class NodeWatch {
  readonly book: NodeBook;
  readonly #options: NodeWatchOptions;
  readonly #log: NodeLog;
  readonly #handles: ((node: string) => void)[] = [];
  /** As they were last logged. */
  readonly #told = new Map<string, NodeAgentState>();
  readonly #timer: NodeJS.Timeout;
  readonly #forget: () => void;

  constructor(options: NodeWatchOptions) {
    const { limits, now, log, leadership } = options;
    this.#options = options;
    this.#log = new NodeLog(log, now);
    this.book = new NodeBook({ limits, now, onChange: (node) => this.#changed(node) });
    this.#timer = setInterval(() => this.#sweep(), sweepMs).unref();
    this.#forget = leadership.onChange((leading) => this.#lead(leading));
  }

  onChange(handle: (node: string) => void): void {
    this.#handles.push(handle);
  }

  /** @throws Refusal */
  take(report: NodeReport): Taken {
    const taken = this.book.take(report);
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
    this.book.clear();
    this.#told.clear();
    this.#options.metrics.nodes(leading ? [] : undefined);
  }

  #sweep(): void {
    if (!this.#options.leadership.leading) return;
    this.book.sweep();
    this.#options.metrics.nodes(this.book.agents());
  }

  #changed(node: string): void {
    const now = this.book.agentOf(node);
    this.#log.state(node, now, this.#told.get(node));
    if (now === undefined) this.#told.delete(node);
    else this.#told.set(node, now);
    for (const handle of this.#handles) handle(node);
  }
}
