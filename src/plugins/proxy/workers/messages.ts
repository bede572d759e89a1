/** What a worker tells the primary: a condition that it meets, or the reason why not. */
export interface WorkerMessage {
  readonly svc: 'condition';
  readonly condition: string;
  readonly reason?: string;
}
/** The one thing that the primary tells a worker. */
export type PrimaryMessage = { readonly svc: 'stop' };

/** Libraries use the same channel. */
export const isWorkerMessage = (message: unknown): message is WorkerMessage =>
  (message as Partial<WorkerMessage> | null)?.svc === 'condition';

export const isPrimaryMessage = (message: unknown): message is PrimaryMessage =>
  (message as Partial<PrimaryMessage> | null)?.svc === 'stop';
