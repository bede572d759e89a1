import { within } from '../runtime/lifecycle/wait.ts';
import type { Logger } from '../runtime/logging/logger.ts';
import { isVaultError, NoAnswerInTime, type TransitCalls, VaultError } from './contract.ts';

export interface HangGuardOptions {
  /** Milliseconds for one call, including its wait, its attempts and a login. */
  readonly timeoutMs: number;
  readonly log: Logger;
  /** Called when the key server begins to hang, and when it responds again. */
  readonly onChange?: (hangs: boolean) => void;
  /** Clock in milliseconds. */
  readonly now?: () => number;
}

/** Milliseconds that callers wait while the key server hangs: enough to be served if it has just recovered. */
const briefMs = 500;

/**
 * Deadline of the client behind the guard in milliseconds: earlier, because the client knows why a call failed, by more
 * than a busy machine takes from the begin of the guard's time to that of the client's.
 */
export const clientDeadlineMs = (timeoutMs: number): number => timeoutMs - Math.max(50, timeoutMs / 10);

/** The time from the moment the key server hangs until its next response. */
interface Hang {
  readonly since: number;
  readonly over: PromiseWithResolvers<void>;
  /** Probes in progress: one that waits for the whole time, and one that waits briefly. */
  readonly asking: Set<'whole' | 'brief'>;
}

/**
 * Limits how long callers wait for the key server. The key server hangs from the moment a caller has waited for the
 * whole time without anyone getting a response, until its next response of any kind. One that refuses connections does
 * not hang, because such calls fail early. While it hangs, two calls at a time probe it: one with the whole time, to
 * detect slow responses, and a brief one, to detect whether new connections are served. Other callers wait briefly for
 * the outcome, and then fail; the key server may still process their requests when it recovers.
 */
export class HangGuard {
  readonly #options: HangGuardOptions;
  readonly #now: () => number;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #hang: Hang | undefined;

  constructor(options: HangGuardOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Milliseconds that a new caller may wait. */
  get patienceMs(): number {
    const { timeoutMs } = this.#options;
    return this.#hang === undefined ? timeoutMs : Math.min(briefMs, timeoutMs);
  }

  /** Error for a caller that has waited that long. */
  get tooLate(): VaultError {
    return this.#hang === undefined ? noAnswerWithin(this.patienceMs) : new KeyServerHangs();
  }

  /** Wraps the calls: a caller that has waited too long gets an error, and no longer delays others. */
  guarded<V>(calls: TransitCalls<V>): TransitCalls<V> {
    return {
      path: calls.path,
      get most() {
        return calls.most;
      },
      discard: (value) => calls.discard(value),
      call: (inputs, signal) => this.#admit((ended) => calls.call(inputs, ended), signal),
    };
  }

  async #admit<T>(call: Call<T>, signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted();
    const { timeoutMs } = this.#options;
    const hang = this.#hang;
    if (hang === undefined) return this.#bounded(call, signal, timeoutMs, 'whole');
    const kind = (['whole', 'brief'] as const).find((each) => !hang.asking.has(each));
    if (kind === undefined) {
      const begun = this.#now();
      const late = () => new KeyServerHangs();
      await within(hang.over.promise, performance.now() + this.patienceMs, signal, late);
      return this.#bounded(call, signal, timeoutMs - (this.#now() - begun), 'brief');
    }
    hang.asking.add(kind);
    const patienceMs = kind === 'whole' ? timeoutMs : this.patienceMs;
    return this.#bounded(call, signal, patienceMs, kind).finally(() => hang.asking.delete(kind));
  }

  async #bounded<T>(
    call: Call<T>,
    signal: AbortSignal | undefined,
    patienceMs: number,
    kind: 'whole' | 'brief',
  ): Promise<T> {
    const begun = this.#now();
    const begunInHang = this.#hang !== undefined;
    const ended = new AbortController();
    const timer = setTimeout(() => ended.abort(noAnswerWithin(patienceMs)), patienceMs);
    const leave = () => ended.abort(signal?.reason);
    signal?.addEventListener('abort', leave, { once: true });
    try {
      const answer = await call(ended.signal);
      this.#answered();
      return answer;
    } catch (error) {
      if (isVaultError(error) && error.status !== undefined) this.#answered();
      if (!(error instanceof NoAnswerInTime)) throw error;
      if (kind === 'whole' && this.#answeredAt < begun) this.#begin();
      throw begunInHang || this.#hang !== undefined ? new KeyServerHangs(error) : error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
    }
  }

  #begin(): void {
    if (this.#hang !== undefined) return;
    const { timeoutMs, log, onChange } = this.#options;
    this.#hang = { since: this.#now(), over: Promise.withResolvers(), asking: new Set() };
    log.warn('vault.hangs', { timeout_ms: timeoutMs });
    onChange?.(true);
  }

  #answered(): void {
    this.#answeredAt = this.#now();
    const hang = this.#hang;
    if (hang === undefined) return;
    this.#hang = undefined;
    hang.over.resolve();
    this.#options.log.info('vault.answers', { seconds: Math.round((this.#answeredAt - hang.since) / 1000) });
    this.#options.onChange?.(false);
  }
}

type Call<T> = (ended: AbortSignal) => Promise<T>;

/** The error for callers of a hanging key server; the hang itself was logged when it began. */
export class KeyServerHangs extends VaultError {
  constructor(cause?: unknown) {
    super('unavailable', 'The key server hangs: a call had no answer in time, and none has had one since', {
      nextStep: 'Find out what the key server waits for, such as its storage; svc keeps retrying.',
      cause,
    });
  }
}

const noAnswerWithin = (ms: number) =>
  new NoAnswerInTime(`The key server has not answered within ${ms / 1000} s`);
