import type { Running } from '../../../runtime/component/contract.ts';
import type { Conditions } from '../readiness/watch.ts';
import { type ProcessOptions, startProcess } from '../start-process.ts';
import { isPrimaryMessage, type WorkerMessage } from './messages.ts';

/**
 * Serves in a process of a crew. The primary asks it to end by a message: a signal may
 * come from the terminal as well, and two of them cut an orderly end short.
 */
export function startWorker(
  options: Omit<ProcessOptions, 'conditions'>,
  signal: AbortSignal,
): Promise<Running> {
  const asked = new AbortController();
  process.on('message', (message) => {
    if (isPrimaryMessage(message)) asked.abort();
  });
  const tell = (message: WorkerMessage) => void process.send?.(message);
  const conditions: Conditions = {
    ready: (condition) => tell({ svc: 'condition', condition }),
    notReady: (condition, reason) => tell({ svc: 'condition', condition, reason }),
  };
  return startProcess({ ...options, conditions }, AbortSignal.any([signal, asked.signal]));
}
