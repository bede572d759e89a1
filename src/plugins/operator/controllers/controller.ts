import type { Metrics } from '../../../runtime/health/metrics.ts';
import type { WorkQueueTuning } from '../../../runtime/kube/work-queue.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Leadership } from '../contract.ts';

/** `requeue`: again after a growing pause; `requeueAfterMs`: again then. Both forget nothing that is added meanwhile. */
export type Reconciled = undefined | { readonly requeue: true } | { readonly requeueAfterMs: number };

export interface ControllerOptions {
  /** Label `controller` of the metrics and the log: `service-config`. */
  readonly name: string;
  readonly leadership: Leadership;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Aborted when the operator is to end. */
  readonly signal: AbortSignal;
  /** Resolves once what `keys` and `reconcile` read is there, such as `cluster.whenSynced`. */
  readonly whenReady: () => Promise<void>;
  /** All there are: they are reconciled whenever this replica begins to lead, and every `resyncMs`. */
  readonly keys: () => Iterable<string>;
  /**
   * Brings one object into line, by what the cluster is now and not by what has changed. Never called with a key that
   * it is busy with. `signal` is aborted when this replica leads no longer: it belongs into each request.
   * What it throws is logged and followed by a growing pause.
   */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<Reconciled>;
  readonly queue?: Partial<WorkQueueTuning>;
  /** How long changes of one key are gathered before it is reconciled. Default: 200 ms. */
  readonly settleMs?: number;
  /** About how often all keys are reconciled without a change; 0: never. Default: 10 minutes. */
  readonly resyncMs?: number;
}

export interface Controller {
  /** Has a key reconciled after `settleMs`, or `delayMs`; of no effect while another replica leads. */
  enqueue(key: string, delayMs?: number): void;
  /** Resolves when the signal was aborted and nothing is under way; never rejects. */
  readonly closed: Promise<void>;
}
