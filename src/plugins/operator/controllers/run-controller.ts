import type { EventRecorder } from '../../../cluster/kube/event-recorder.ts';
import {
  createWorkQueue,
  type ReconcileOutcome,
  type WorkQueue,
  type WorkQueueTuning,
} from '../../../cluster/kube/work-queue.ts';
import type { Counter, Gauge, Histogram, Metrics } from '../../../runtime/health/health.ts';
import { type Periodic, startPeriodic, untilAborted } from '../../../runtime/lifecycle/wait.ts';
import { describeError, type Logger } from '../../../runtime/logging/logger.ts';
import type { ByNamespace, KnownPod, KnownSecretMapping, KnownServiceConfig } from '../cluster-view.ts';
import type { Leadership, OperatorDeps } from '../contract.ts';

/** Reconciles while this replica leads. Changes call `enqueue`; everything else happens here. */
export function runController(options: ControllerOptions): Controller {
  const { leadership, signal, name } = options;
  const metrics = controllerMetrics(options.metrics);
  for (const result of results) metrics.reconciled.inc({ controller: name, result }, 0);
  metrics.errors.inc({ controller: name }, 0);
  let term: Term | undefined;
  let ended: Promise<void> = Promise.resolve();
  const endTerm = () => {
    term?.end();
    term = undefined;
  };
  const forget = leadership.onChange((leading) => {
    endTerm();
    if (!leading || signal.aborted) return;
    // work of the last term ends first
    term = leadTerm(options, metrics, ended);
    ended = term.closed;
  });
  const closed = Promise.withResolvers<void>();
  const end = () => {
    forget();
    endTerm();
    void ended.then(closed.resolve);
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return { enqueue: (key, delayMs) => term?.enqueue(key, delayMs), closed: closed.promise };
}

const defaultSettleMs = 200;
const defaultResyncMs = 10 * 60_000;

/** From the moment this replica begins to lead until it stops. */
interface Term {
  enqueue(key: string, delayMs?: number): void;
  end(): void;
  /** Resolves once it was ended and no work is in progress; never rejects. */
  readonly closed: Promise<void>;
}

/** @param before resolves when no work of the last term is in progress */
function leadTerm(options: ControllerOptions, metrics: ControllerMetrics, before: Promise<void>): Term {
  const { name, keys, settleMs = defaultSettleMs, resyncMs: everyMs = defaultResyncMs } = options;
  const controller = new AbortController();
  const { signal } = controller;
  const labels = { controller: name };
  const queue = createWorkQueue({
    ...{ signal, tuning: options.queue },
    onBegin: (_key, waitedMs) => metrics.waited.observe(waitedMs / 1_000, labels),
    work: (key) => {
      metrics.depth.set(queue.size, labels);
      return reconcileOne(options, metrics, key, signal);
    },
  });
  let passes: Periodic | undefined;
  const run = async () => {
    await Promise.race([before.then(options.whenReady), untilAborted(signal)]);
    if (!signal.aborted) passes = startPasses({ queue, keys, everyMs, signal });
    await passes?.closed;
    await Promise.all([before, queue.closed]);
    metrics.depth.set(0, labels);
  };
  return {
    enqueue(key, delayMs = settleMs) {
      // the first pass includes what changes before it
      if (passes !== undefined && !queue.add(key, delayMs)) passes.wake();
      metrics.depth.set(queue.size, labels);
    },
    end: () => controller.abort(),
    closed: run(),
  };
}

async function reconcileOne(
  options: ControllerOptions,
  metrics: ControllerMetrics,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileOutcome> {
  const { name } = options;
  const began = performance.now();
  const { result, outcome } = await attempt(options, key, signal);
  metrics.seconds.observe((performance.now() - began) / 1_000, { controller: name });
  if (result === 'error' && isOver(options, signal)) return outcome;
  metrics.reconciled.inc({ controller: name, result });
  if (result === 'error') metrics.errors.inc({ controller: name });
  return outcome;
}

/** Work interrupted by the end of the term has not failed. A paused process learns late that its term ended. */
function isOver({ leadership }: ControllerOptions, signal: AbortSignal): boolean {
  return signal.aborted || !leadership.leading;
}

interface Attempt {
  readonly result: Result;
  readonly outcome: ReconcileOutcome;
}

async function attempt(options: ControllerOptions, key: string, signal: AbortSignal): Promise<Attempt> {
  try {
    return attemptOf(await options.reconcile(key, signal));
  } catch (error) {
    if (!isOver(options, signal)) {
      options.log.error('reconcile.failed', { controller: options.name, key, ...describeError(error) });
    }
    return { result: 'error', outcome: 'again' };
  }
}

function attemptOf(reconciled: Reconciled): Attempt {
  if (reconciled === undefined) return { result: 'success', outcome: 'done' };
  if ('requeue' in reconciled) return { result: 'requeue', outcome: 'again' };
  return { result: 'requeue_after', outcome: reconciled.requeueAfterMs };
}

interface Passes {
  readonly queue: WorkQueue;
  readonly keys: () => Iterable<string>;
  /** Between two passes, in milliseconds; 0: passes only on demand. */
  readonly everyMs: number;
  readonly signal: AbortSignal;
}

/**
 * Adds all keys to the queue at once, then periodically. A pass waits while the queue is full, so that every key gets
 * its turn.
 */
function startPasses({ queue, keys, everyMs, signal }: Passes): Periodic {
  const pass = async () => {
    await enqueueAll(queue, keys(), signal);
    return jittered(everyMs);
  };
  return startPeriodic({ pass, signal });
}

async function enqueueAll(queue: WorkQueue, keys: Iterable<string>, signal: AbortSignal): Promise<void> {
  for (const key of keys) {
    while (!queue.add(key)) await queue.whenRoom();
    if (signal.aborted) return;
  }
}

/** Jitter keeps the controllers apart; 0 becomes the longest delay of a timer. */
function jittered(everyMs: number): number {
  return everyMs === 0 ? 2 ** 31 - 1 : everyMs * (0.9 + 0.2 * Math.random());
}

/** `requeue`: again after a growing pause; `requeueAfterMs`: again after this time. Keys added meanwhile are kept. */
export type Reconciled = undefined | { readonly requeue: true } | { readonly requeueAfterMs: number };

export interface ControllerOptions {
  /** Label `controller` of the metrics and the log: `service-config`. */
  readonly name: string;
  readonly leadership: Leadership;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Aborted when the operator must end. */
  readonly signal: AbortSignal;
  /** Resolves once the objects that `keys` and `reconcile` read are listed, such as `cluster.whenSynced`. */
  readonly whenReady: () => Promise<void>;
  /** Keys of all objects: reconciled when this replica begins to lead, and every `resyncMs`. */
  readonly keys: () => Iterable<string>;
  /**
   * Reconciles one object with the current state of the cluster, whatever has changed. Never called concurrently for
   * one key. `signal` is aborted when this replica stops leading; pass it to every request. An error is logged, and the
   * key retried after a growing pause.
   */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<Reconciled>;
  readonly queue?: Partial<WorkQueueTuning>;
  /** How long changes of one key are gathered before it is reconciled. Default: 200 ms. */
  readonly settleMs?: number;
  /** About how often all keys are reconciled without a change; 0: never. Default: 10 minutes. */
  readonly resyncMs?: number;
}

export interface Controller {
  /** Schedules a key for reconciliation after `settleMs`, or `delayMs`; no effect while another replica leads. */
  enqueue(key: string, delayMs?: number): void;
  /** Resolves once the signal was aborted and no work is in progress; never rejects. */
  readonly closed: Promise<void>;
}

/** As in controller-runtime. */
const results = ['success', 'error', 'requeue', 'requeue_after'] as const;
type Result = (typeof results)[number];

interface ControllerMetrics {
  /** By `controller` and `result`. */
  readonly reconciled: Counter;
  /** By `controller`, like the following ones. */
  readonly errors: Counter;
  readonly seconds: Histogram;
  readonly waited: Histogram;
  readonly depth: Gauge;
}

const known = new WeakMap<Metrics, ControllerMetrics>();
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Shared by all controllers; the first one registers the metrics. */
export function controllerMetrics(metrics: Metrics): ControllerMetrics {
  const registered = known.get(metrics) ?? register(metrics);
  known.set(metrics, registered);
  return registered;
}

/** Source of the names: https://book.kubebuilder.io/reference/metrics-reference */
function register(metrics: Metrics): ControllerMetrics {
  const by = ['controller'];
  return {
    reconciled: metrics.counter(
      'controller_runtime_reconcile_total',
      'Reconciliations by controller and result',
      [...by, 'result'],
    ),
    errors: metrics.counter('controller_runtime_reconcile_errors_total', 'Failed reconciliations', by),
    seconds: metrics.histogram(
      'controller_runtime_reconcile_time_seconds',
      'How long a reconciliation took',
      buckets,
      by,
    ),
    waited: metrics.histogram(
      'workqueue_queue_duration_seconds',
      'How long an object had to wait after it was due',
      buckets,
      by,
    ),
    depth: metrics.gauge('workqueue_depth', 'Objects queued or being reconciled', by),
  };
}

/** Dependencies of every controller. */
export interface ControllerDeps extends OperatorDeps {
  readonly leadership: Leadership;
  readonly metrics: Metrics;
  readonly events: EventRecorder;
}

/** Objects by namespace; built before any handler is set, so that they are current when handlers run. */
export interface Indexes {
  readonly pods: ByNamespace<KnownPod>;
  readonly serviceConfigs: ByNamespace<KnownServiceConfig>;
  readonly secretMappings: ByNamespace<KnownSecretMapping>;
}

/** Options that all controllers share. */
export function commonOptions(deps: ControllerDeps) {
  const { leadership, metrics, log, signal, cluster } = deps;
  return {
    ...{ leadership, metrics, log, signal },
    whenReady: () => cluster.whenSynced(),
  } satisfies Partial<ControllerOptions>;
}
