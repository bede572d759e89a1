import type { Logger } from '../../../runtime/logging/logger.ts';
import type { StateStore } from './state-store.ts';

/** More wait for `svc proxy gc`, as do those of a process that ends before their time. */
const mostWaiting = 10_000;

/** Helper objects that go once those who may still ask for them have had their time. */
export class DelayedRemovals {
  readonly #state: Pick<StateStore, 'delete'>;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #waiting = new Map<string, NodeJS.Timeout>();

  constructor(state: Pick<StateStore, 'delete'>, log: Pick<Logger, 'warn'>) {
    this.#state = state;
    this.#log = log;
  }

  add(bucket: string, key: string, graceMs: number): void {
    const id = JSON.stringify([bucket, key]);
    if (this.#waiting.has(id) || this.#waiting.size >= mostWaiting) return;
    const remove = () => {
      this.#waiting.delete(id);
      this.#state.delete(bucket, [key]).catch((error: Error) => {
        this.#log.warn('proxy.upload.records-left', { error: error.message });
      });
    };
    this.#waiting.set(id, setTimeout(remove, graceMs).unref());
  }

  close(): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }
}
