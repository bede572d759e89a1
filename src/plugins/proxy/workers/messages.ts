import type { SessionState } from '../../../runtime/vault/session.ts';

/** What a worker tells the primary, and the one thing that the primary tells a worker. */
export type WorkerMessage = { readonly svc: 'vault'; readonly state: SessionState };
export type PrimaryMessage = { readonly svc: 'stop' };

/** Libraries use the same channel. */
export const isWorkerMessage = (message: unknown): message is WorkerMessage =>
  (message as Partial<WorkerMessage> | null)?.svc === 'vault';

export const isPrimaryMessage = (message: unknown): message is PrimaryMessage =>
  (message as Partial<PrimaryMessage> | null)?.svc === 'stop';
