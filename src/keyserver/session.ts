import { type Backoff, createBackoff, within } from '../runtime/lifecycle/wait.ts';
import type { Logger } from '../runtime/logging/logger.ts';
import { secrets } from '../runtime/logging/secrets.ts';
import {
  certificateCode,
  clientClosed,
  isVaultError,
  NoAnswerInTime,
  retryAfterOf,
  VaultError,
} from './contract.ts';
import type { KeptToken } from './kept-token.ts';
import type { VaultAuth } from './settings.ts';
import { TokenKeeper } from './token-keeper.ts';

/** Whether a token is available, and if not, why. */
export interface SessionState {
  readonly ready: boolean;
  readonly reason: string;
}

export interface SessionOptions {
  readonly method: VaultAuth['method'];
  /** Closed with the session. */
  readonly kept: KeptToken;
  readonly log: Logger;
  /** Called when the state changes. */
  readonly onState: (state: SessionState) => void;
}

/** A token in use; a refused request refers to the object that it used. */
export interface HeldToken {
  readonly value: string;
  /** From `performance.now()`. */
  readonly expiresAt: number;
}

const loginsPerMinute = 10;
/** How many of these logins may follow a refusal that may also indicate a missing policy. */
const doubtsPerMinute = 5;

/**
 * Keeps one token alive by renewing it if permitted, or else logging in again before it ends. There is one login at a
 * time.
 */
export class Session {
  readonly #options: SessionOptions;
  readonly #closing = new AbortController();
  readonly #logins = new MinuteLimit(loginsPerMinute);
  readonly #doubts = new MinuteLimit(doubtsPerMinute);
  readonly #backoff: Backoff = createBackoff({ initialMs: 500, maxMs: 10_000 });
  readonly #waiting = new Set<PromiseWithResolvers<HeldToken>>();
  #token: HeldToken | undefined;
  #keeper: TokenKeeper | undefined;
  #login: Promise<HeldToken> | undefined;
  #failure: VaultError | undefined;
  #timer: NodeJS.Timeout | undefined;
  #state: SessionState | undefined;
  #forget: () => void = () => undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Resolves after the first attempt, successful or not; further ones follow automatically. */
  async start(): Promise<void> {
    this.#report({ ready: false, reason: 'no login at the key server yet' });
    await this.#logIn().catch(ignore);
  }

  /** The current token, if there is one. */
  get held(): HeldToken | undefined {
    return this.#token !== undefined && performance.now() < this.#token.expiresAt ? this.#token : undefined;
  }

  /**
   * Waits for a token until the deadline.
   * @throws VaultError `denied` as soon as the key server refuses the login, else `unavailable`
   */
  async token(deadline: number, signal: AbortSignal | undefined): Promise<HeldToken> {
    if (this.held !== undefined) return this.held;
    this.#closing.signal.throwIfAborted();
    if (this.#login === undefined && this.#failure !== undefined && isFinal(this.#failure))
      throw this.#failure;
    const waiter = Promise.withResolvers<HeldToken>();
    this.#waiting.add(waiter);
    if (this.#failure === undefined) this.#logIn().catch(ignore);
    return within(waiter.promise, deadline, signal, () => this.#failure ?? noTokenYet()).finally(() =>
      this.#waiting.delete(waiter),
    );
  }

  /**
   * Call it when the key server has refused a request with this token.
   * @returns true if a new token may help and should be requested
   * @param certain the server does not know the token, so it is dropped at once; otherwise a policy may be missing, and
   *   the token stays in use until a login has succeeded
   */
  async replace(
    refused: HeldToken,
    certain: boolean,
    deadline: number,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    if (this.#token !== refused) return true;
    if (certain) {
      this.#drop();
      return true;
    }
    if (this.#login === undefined && !(this.#doubts.take() && this.#logins.take())) return false;
    await within(this.#logIn(), deadline, signal, noTokenYet);
    return true;
  }

  close(): void {
    clearTimeout(this.#timer);
    const closed = clientClosed();
    this.#closing.abort(closed);
    for (const waiter of this.#waiting) waiter.reject(closed);
    this.#token = undefined;
    this.#options.kept.close();
    this.#forget();
  }

  #drop(): void {
    this.#token = undefined;
    this.#failure = undefined;
    if (this.#logins.take()) this.#logIn().catch(ignore);
    else this.#retryLater(new VaultError('unavailable', 'Too many logins at the key server: waiting'));
  }

  #logIn(): Promise<HeldToken> {
    this.#login ??= this.#attempt().finally(() => {
      this.#login = undefined;
    });
    return this.#login;
  }

  async #attempt(): Promise<HeldToken> {
    const { kept } = this.#options;
    clearTimeout(this.#timer);
    const begun = performance.now();
    try {
      const login = await kept.logIn(this.#closing.signal);
      this.#closing.signal.throwIfAborted();
      if (this.#keeper === undefined) this.#keeper = new TokenKeeper(kept, login);
      else this.#keeper.takeUp(login);
      return this.#adopt(this.#keeper, 'vault.login');
    } catch (error) {
      throw this.#retryLater(asVaultError(error), performance.now() - begun);
    }
  }

  #adopt(keeper: TokenKeeper, event: string): HeldToken {
    const { method, kept, log } = this.#options;
    const token = hold(kept, keeper);
    const forget = secrets.register(token.value);
    this.#forget();
    this.#forget = forget;
    this.#token = token;
    this.#failure = undefined;
    this.#backoff.reset();
    log.info(event, { method, lease_seconds: keeper.knowledge.leaseSeconds ?? 0 });
    const delay = keeper.delayMs(Number.POSITIVE_INFINITY);
    if (delay < Number.POSITIVE_INFINITY) this.#schedule(spread(delay), () => this.#extend(keeper, token));
    this.#report({ ready: true, reason: 'logged in' });
    for (const waiter of this.#waiting) waiter.resolve(token);
    return token;
  }

  /** Renews the token if that works and still gains time, else logs in again. */
  async #extend(keeper: TokenKeeper, token: HeldToken): Promise<void> {
    const renewal = await keeper.renew(this.#closing.signal).catch(() => 'no');
    if (this.#token !== token) return;
    if (renewal === 'enough') this.#adopt(keeper, 'vault.renewal');
    else await this.#logIn();
  }

  /** The pause counts from the start of the attempt, so after a timeout the next attempt follows at once. */
  #retryLater(failure: VaultError, tookMs = 0): VaultError {
    if (this.#closing.signal.aborted) return failure;
    this.#failure = failure;
    const floor = failure.kind === 'denied' ? 5_000 : retryAfterOf(failure);
    const delay = Math.max(this.#backoff.next() - tookMs, this.#logins.waitMs(), floor);
    this.#schedule(delay, () => {
      this.#logins.take();
      return this.#logIn();
    });
    this.#complain(failure, delay);
    return failure;
  }

  #complain(failure: VaultError, delay: number): void {
    const { message: error, code, nextStep } = failure;
    const fields = { error, code, nextStep, retry_ms: Math.round(delay) };
    this.#options.log.warn('vault.login.failed', { method: this.#options.method, ...fields });
    if (this.held !== undefined) return;
    this.#report({ ready: false, reason: failure.message });
    if (isFinal(failure)) for (const waiter of this.#waiting) waiter.reject(failure);
  }

  #schedule(delay: number, action: () => Promise<unknown>): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => action().catch(ignore), delay).unref();
  }

  #report(state: SessionState): void {
    if (this.#state?.ready === state.ready && this.#state.reason === state.reason) return;
    this.#state = state;
    this.#options.onState(state);
  }
}

/** The failure was logged, and every caller that waits for a token gets it. */
const ignore = (): void => undefined;

/** The token as text, for headers. A token without an end, or with an unknown one, is used until it is refused. */
function hold(kept: KeptToken, keeper: TokenKeeper): HeldToken {
  const seconds = keeper.secondsLeft() ?? Number.POSITIVE_INFINITY;
  const value = Buffer.from(kept.inUse()).toString('latin1');
  return { value, expiresAt: performance.now() + seconds * 1000 };
}

function asVaultError(error: unknown): VaultError {
  if (isVaultError(error)) return error;
  return new VaultError('unavailable', 'The login at the key server failed', { cause: error });
}

/** A later attempt within the call's time would not succeed either. */
const isFinal = (failure: VaultError): boolean =>
  failure.kind === 'denied' || failure.code === certificateCode;

const noTokenYet = (): VaultError => new NoAnswerInTime('No token from the key server in time');

const longestTimerMs = 2 ** 31 - 1;

/** With jitter, so that clients do not renew at the same time. */
const spread = (delayMs: number): number =>
  Math.min(longestTimerMs, Math.max(500, delayMs * (0.9 + Math.random() * 0.2)));

const windowMs = 60_000;

/** A limit on events per minute. */
export class MinuteLimit {
  readonly #most: number;
  #times: number[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Milliseconds until `take` succeeds. */
  waitMs(now = performance.now()): number {
    this.#times = this.#times.filter((time) => time > now - windowMs);
    const oldest = this.#times[this.#times.length - this.#most];
    return oldest === undefined ? 0 : oldest + windowMs - now;
  }

  /** Counts one event if the limit permits it. */
  take(now = performance.now()): boolean {
    if (this.waitMs(now) > 0) return false;
    this.#times.push(now);
    return true;
  }
}
