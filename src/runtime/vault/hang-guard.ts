import type { Logger } from '../logging/logger.ts';
import { isVaultError, NoAnswerInTime, type TransitCalls, VaultError } from './contract.ts';

export interface HangGuardOptions {
  /** For one call of a caller, with its turn, its attempts and a login, in ms. */
  readonly timeoutMs: number;
  readonly log: Logger;
  /** Told when the key server begins to hang, and when it answers again. */
  readonly onChange?: (hangs: boolean) => void;
  /** In ms. */
  readonly now?: () => number;
}

/** How long callers wait while the key server hangs, in ms: enough to be served if it has just come back. */
const briefMs = 500;

/** For the client behind the guard, in ms: it ends a little earlier, because it knows what a call has died of. */
export const clientDeadlineMs = (timeoutMs: number): number => timeoutMs - 50;

/**
 * Bounds how long callers wait for the key server.
 *
 * It hangs from the moment when a caller has waited for the whole time and nobody got an answer meanwhile, until the next
 * answer, whatever that says. A key server that refuses connections does not hang: such calls end early by themselves.
 * While it hangs callers wait briefly, except for one at a time: a key server that answers slowly again is found out by
 * the whole time only.
 */
export class HangGuard {
  readonly #options: HangGuardOptions;
  readonly #now: () => number;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #hangsSince: number | undefined;
  #probing = false;

  constructor(options: HangGuardOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** How long a caller that comes now may wait, in ms. */
  get patienceMs(): number {
    const { timeoutMs } = this.#options;
    return this.#hangsSince === undefined ? timeoutMs : Math.min(briefMs, timeoutMs);
  }

  /** For somebody who has waited for that long. */
  get tooLate(): VaultError {
    return this.#hangsSince === undefined ? noAnswerWithin(this.patienceMs) : new KeyServerHangs();
  }

  /** The same calls; whoever has waited for too long gets an error, and is no longer in the way of others. */
  guarded<V>(calls: TransitCalls<V>): TransitCalls<V> {
    return {
      path: calls.path,
      get most() {
        return calls.most;
      },
      discard: (value) => calls.discard(value),
      call: (inputs, signal) => this.#bounded((ended) => calls.call(inputs, ended), signal),
    };
  }

  async #bounded<T>(call: (ended: AbortSignal) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted();
    const isProbe = this.#hangsSince !== undefined && !this.#probing;
    const patienceMs = isProbe ? this.#options.timeoutMs : this.patienceMs;
    const begun = this.#now();
    const ended = new AbortController();
    const timer = setTimeout(() => ended.abort(noAnswerWithin(patienceMs)), patienceMs);
    const leave = () => ended.abort(signal?.reason);
    signal?.addEventListener('abort', leave, { once: true });
    if (isProbe) this.#probing = true;
    try {
      const answer = await call(ended.signal);
      this.#answered();
      return answer;
    } catch (error) {
      throw this.#explained(error, begun, patienceMs);
    } finally {
      if (isProbe) this.#probing = false;
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
    }
  }

  #explained(error: unknown, begun: number, patienceMs: number): unknown {
    if (isVaultError(error) && error.status !== undefined) this.#answered();
    if (!(error instanceof NoAnswerInTime)) return error;
    if (patienceMs === this.#options.timeoutMs && this.#answeredAt < begun) this.#hangs();
    return this.#hangsSince === undefined ? error : new KeyServerHangs(error);
  }

  #hangs(): void {
    if (this.#hangsSince !== undefined) return;
    const { timeoutMs, log, onChange } = this.#options;
    this.#hangsSince = this.#now();
    log.warn('vault.hangs', { timeout_ms: timeoutMs });
    onChange?.(true);
  }

  #answered(): void {
    this.#answeredAt = this.#now();
    if (this.#hangsSince === undefined) return;
    const seconds = Math.round((this.#answeredAt - this.#hangsSince) / 1000);
    this.#hangsSince = undefined;
    this.#options.log.info('vault.answers', { seconds });
    this.#options.onChange?.(false);
  }
}

/** For callers of a key server that hangs, which was logged when it began to. */
export class KeyServerHangs extends VaultError {
  constructor(cause?: unknown) {
    super('unavailable', 'The key server hangs: a call had no answer in time, and none has had one since', {
      nextStep:
        'Find out what the key server waits for, such as its storage; it is asked again all the time.',
      cause,
    });
  }
}

const noAnswerWithin = (ms: number) =>
  new NoAnswerInTime(`The key server has not answered within ${ms / 1000} s`);
