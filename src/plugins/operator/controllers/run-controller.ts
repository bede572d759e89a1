import type { Controller, ControllerOptions } from './controller.ts';
import { controllerMetrics, results } from './controller-metrics.ts';
import { leadTerm, type Term } from './lead-term.ts';

export type { Controller, ControllerOptions, Reconciled } from './controller.ts';

/** Reconciles while this replica leads: changes call `enqueue`, all else is done here. */
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
    // what the last term has under way ends first
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
