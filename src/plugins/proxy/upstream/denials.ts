import type { Logger } from '../../../runtime/logging/logger.ts';

const quietMs = 60_000;
const nextStep =
  "check the proxy's own credentials for the object store and what their policy grants; callers see the store's answer as it is";

/**
 * Tells of answers by which the store refuses the proxy itself, at most once a minute: callers take
 * them for their own fault, and where a single object is meant they are no event.
 */
export class Denials {
  readonly #log: Logger;
  #quietUntil = Number.NEGATIVE_INFINITY;
  #untold = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** `now` is of `performance.now()`. */
  note(method: string, status: number, now = performance.now()): void {
    if (status !== 401 && status !== 403) return;
    this.#untold++;
    if (now < this.#quietUntil) return;
    this.#log.warn('upstream.denied', { method, status, count: this.#untold, next: nextStep });
    this.#quietUntil = now + quietMs;
    this.#untold = 0;
  }
}
