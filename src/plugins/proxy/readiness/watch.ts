import type { Health } from '../../../runtime/health/health.ts';
import { type Backoff, createBackoff } from '../../../runtime/lifecycle/backoff.ts';
import { within } from '../../../runtime/lifecycle/within.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';

/** Something without which no request can be served, found out by doing it. */
export interface Check {
  /** Its name in `/readyz`. */
  readonly condition: string;
  /** Resolves when it holds; ends soon after `signal` is aborted. */
  run(signal: AbortSignal): Promise<unknown>;
  /** What a failure of `run` means. */
  explain(error: unknown): Failing;
}

/** Without secrets: both are shown to whoever can reach `/readyz` or the log. */
export interface Failing {
  readonly reason: string;
  readonly nextStep?: string | undefined;
  /** Asking again soon would be of no use, or would do harm. */
  readonly lasting?: boolean;
}

/** Milliseconds. */
export interface Beats {
  /** About the time between two runs while the condition holds, and the longest while it does not. */
  readonly everyMs: number;
  /** About the time after a first failure. */
  readonly againMs: number;
  /** A run that takes longer has failed. */
  readonly timeoutMs: number;
}

export type Conditions = Pick<Health, 'ready' | 'notReady'>;

export interface WatchOptions {
  readonly conditions: Conditions;
  readonly log: Logger;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  readonly beats?: Beats;
}

const usual: Beats = { everyMs: 30_000, againMs: 1_000, timeoutMs: 10_000 };
/** Proxies that were started together must not ask together for ever. */
const spread = 0.15;

/**
 * Runs each check at once, and again and again until the signal is aborted, one run of a check at a time.
 * @returns what has the checks that do not hold run again now
 */
export function watchReadiness(checks: readonly Check[], options: WatchOptions): () => void {
  const watches = checks.map((check) => new Watch(check, options));
  for (const watch of watches) void watch.run();
  return () => {
    for (const watch of watches) watch.hurry();
  };
}

class Watch {
  readonly #check: Check;
  readonly #options: WatchOptions;
  readonly #beats: Beats;
  readonly #backoff: Backoff;
  #state: 'untried' | 'met' | 'doubted' | 'unmet' = 'untried';
  #told = '';
  #hurried = false;
  #wake = (): void => undefined;

  constructor(check: Check, options: WatchOptions) {
    this.#check = check;
    this.#options = options;
    this.#beats = options.beats ?? usual;
    this.#backoff = createBackoff({ initialMs: this.#beats.againMs, maxMs: this.#beats.everyMs });
  }

  async run(): Promise<void> {
    const { conditions, signal } = this.#options;
    conditions.notReady(this.#check.condition, 'not tried yet');
    while (!signal.aborted) {
      this.#hurried = false;
      const failing = await this.#attempt();
      if (signal.aborted) return;
      const pause = failing === undefined ? this.#met() : this.#failed(failing);
      await this.#pause(this.#hurried && failing !== undefined ? 0 : pause);
    }
  }

  hurry(): void {
    if (this.#state === 'met') return;
    this.#hurried = true;
    this.#wake();
  }

  async #attempt(): Promise<Failing | undefined> {
    const { timeoutMs } = this.#beats;
    const ended = new AbortController();
    const signal = AbortSignal.any([this.#options.signal, ended.signal]);
    const late = () => new Error(`no answer within ${timeoutMs / 1000} s`);
    try {
      await within(this.#check.run(signal), performance.now() + timeoutMs, this.#options.signal, late);
      return undefined;
    } catch (error) {
      return this.#check.explain(error);
    } finally {
      ended.abort();
    }
  }

  #met(): number {
    const { conditions, log } = this.#options;
    const { condition } = this.#check;
    if (this.#state === 'unmet') log.info('proxy.readiness.regained', { condition });
    this.#state = 'met';
    this.#told = '';
    this.#backoff.reset();
    conditions.ready(condition);
    return this.#beat();
  }

  /** One failure of what held until now may be an accident; callers are told of it by their own requests. */
  #failed({ reason, nextStep, lasting = false }: Failing): number {
    const { conditions, log } = this.#options;
    const { condition } = this.#check;
    const again = this.#backoff.next();
    if (this.#state === 'met') {
      this.#state = 'doubted';
      return again;
    }
    this.#state = 'unmet';
    conditions.notReady(condition, reason);
    if (reason !== this.#told) log.warn('proxy.readiness.lost', { condition, error: reason, nextStep });
    this.#told = reason;
    return lasting ? this.#beat() : again;
  }

  #beat(): number {
    return this.#beats.everyMs * (1 - spread + 2 * spread * Math.random());
  }

  #pause(milliseconds: number): Promise<void> {
    const { signal } = this.#options;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake(), milliseconds).unref();
      this.#wake = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', this.#wake);
        resolve();
      };
      signal.addEventListener('abort', this.#wake, { once: true });
    });
  }
}
