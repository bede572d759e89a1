import { createWorkQueue, type Outcome } from '../../../runtime/kube/work-queue.ts';
import { untilAborted } from '../../../runtime/lifecycle/until-aborted.ts';
import { describeError } from '../../../runtime/logging/describe-error.ts';
import type { ControllerOptions, Reconciled } from './controller.ts';
import type { ControllerMetrics, Result } from './controller-metrics.ts';
import { type Sweeper, startSweeps } from './sweep.ts';

const defaultSettleMs = 200;
const defaultResyncMs = 10 * 60_000;

/** From the moment when this replica begins to lead until it does no longer. */
export interface Term {
  enqueue(key: string, delayMs?: number): void;
  end(): void;
  /** Resolves when it was ended and nothing is under way; never rejects. */
  readonly closed: Promise<void>;
}

/** @param before resolves when nothing of the last term is under way */
export function leadTerm(
  options: ControllerOptions,
  metrics: ControllerMetrics,
  before: Promise<void>,
): Term {
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
  let sweeper: Sweeper | undefined;
  const run = async () => {
    await Promise.race([before.then(options.whenReady), untilAborted(signal)]);
    if (!signal.aborted) sweeper = startSweeps({ queue, keys, everyMs, signal });
    await sweeper?.closed;
    await Promise.all([before, queue.closed]);
    metrics.depth.set(0, labels);
  };
  return {
    enqueue(key, delayMs = settleMs) {
      // what changes before the first sweep is part of it
      if (sweeper !== undefined && !queue.add(key, delayMs)) sweeper.request();
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
): Promise<Outcome> {
  const { name } = options;
  const began = performance.now();
  const { result, outcome } = await attempt(options, key, signal);
  metrics.seconds.observe((performance.now() - began) / 1_000, { controller: name });
  if (result === 'error' && isOver(options, signal)) return outcome;
  metrics.reconciled.inc({ controller: name, result });
  if (result === 'error') metrics.errors.inc({ controller: name });
  return outcome;
}

/** What the end of the term cuts short is no failure; a process that stood still hears of that end a little later. */
function isOver({ leadership }: ControllerOptions, signal: AbortSignal): boolean {
  return signal.aborted || !leadership.leading;
}

interface Attempt {
  readonly result: Result;
  readonly outcome: Outcome;
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
