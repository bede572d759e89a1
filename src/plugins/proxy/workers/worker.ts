import type { Running } from '../../../runtime/component/contract.ts';
import type { SessionState } from '../../../runtime/vault/session.ts';
import { type ProcessOptions, startProcess } from '../start-process.ts';
import { isPrimaryMessage, type WorkerMessage } from './messages.ts';

/**
 * Serves in a process of a crew. The primary asks it to end by a message: a signal may
 * come from the terminal as well, and two of them cut an orderly end short.
 */
export function startWorker(options: Omit<ProcessOptions, 'onVault'>, signal: AbortSignal): Promise<Running> {
  const asked = new AbortController();
  process.on('message', (message) => {
    if (isPrimaryMessage(message)) asked.abort();
  });
  const onVault = (state: SessionState) => {
    const message: WorkerMessage = { svc: 'vault', state };
    process.send?.(message);
  };
  return startProcess({ ...options, onVault }, AbortSignal.any([signal, asked.signal]));
}
