import { isVaultError } from './contract.ts';
import type { KeptToken, Login } from './kept-token.ts';
import { gainsEnough, type TokenLease } from './logins.ts';

type Client = Pick<KeptToken, 'logIn' | 'renew'>;

/** `kept`: the token was neither renewed nor replaced. */
export type TokenEvent = 'renewed' | 'logged-in' | 'kept';

const shortestTokenRetryMs = 1_000;

/** If a token's lifetime cannot be looked up, a renewal will tell. Soon, because the token may be short-lived. */
const unknownDelayMs = 1_000;

/** Remaining share of a token's lifetime below which a warning says that nothing renews the token. */
const lateFraction = 1 / 3;

/** What is known about a token, for the next process that takes it over. */
export interface TokenKnowledge extends TokenLease {
  /** By the keeper's clock, in ms; undefined if unknown. */
  readonly endsAt: number | 'never' | undefined;
  readonly fullLease: number;
  readonly mayRenew: boolean;
  readonly refused: boolean;
  readonly prolonged: boolean;
}

/** Keeps one token alive: renews it, and logs in again when the renewal is refused or gains too little. */
export class TokenKeeper {
  readonly #client: Client;
  readonly #now: () => number;
  #lease: TokenLease;
  #endsAt: number | undefined;
  /** Lifetime of the token when it was new, in seconds. */
  #fullLease: number;
  #mayRenew = true;
  /** Whether the last renewal of this token was refused. */
  #refused = false;
  /** Whether the last attempt gained time or a new token. */
  #prolonged = true;

  /** @param now a clock in ms that never goes back */
  constructor(client: Client, lease: TokenLease, now = () => performance.now()) {
    this.#client = client;
    this.#now = now;
    this.#lease = lease;
    this.#fullLease = lease.leaseSeconds ?? 0;
    this.#hold(lease);
  }

  get knowledge(): TokenKnowledge {
    const endsAt = this.#endsAt === Number.POSITIVE_INFINITY ? 'never' : this.#endsAt;
    return {
      ...this.#lease,
      ...{ endsAt, fullLease: this.#fullLease },
      ...{ mayRenew: this.#mayRenew, refused: this.#refused, prolonged: this.#prolonged },
    };
  }

  /** Restores what a keeper with the same clock knew about the token. */
  recall({ endsAt, fullLease, mayRenew, refused, prolonged, ...lease }: TokenKnowledge): this {
    this.#lease = lease;
    this.#endsAt = endsAt === 'never' ? Number.POSITIVE_INFINITY : endsAt;
    this.#fullLease = fullLease;
    this.#mayRenew = mayRenew;
    this.#refused = refused;
    this.#prolonged = prolonged;
    return this;
  }

  /** Until the next tending, in ms: the interval, less if the token ends earlier, a second if its end is unknown. */
  delayMs(intervalMs: number): number {
    const { leaseSeconds } = this.#lease;
    if (leaseSeconds === undefined && !this.#refused) return Math.min(intervalMs, unknownDelayMs);
    return leaseSeconds ? Math.min(intervalMs, (leaseSeconds * 1000 * 2) / 3) : intervalMs;
  }

  /**
   * Longest pause after a failure, in ms: a token that cannot be replaced must not expire while it could still be
   * renewed. Infinity if the token has expired or has no end.
   */
  longestRetryMs(): number {
    if (this.#lease.leaseSeconds === undefined && !this.#refused) return shortestTokenRetryMs;
    const left = (this.#endsAt ?? Number.POSITIVE_INFINITY) - this.#now();
    return left > 0 ? Math.max(shortestTokenRetryMs, left / 2) : Number.POSITIVE_INFINITY;
  }

  /** Until the token ends, at least 0; Infinity if it has no end, undefined if its end is unknown. */
  secondsLeft(): number | undefined {
    return this.#endsAt === undefined ? undefined : Math.max(0, (this.#endsAt - this.#now()) / 1000);
  }

  /** Why the token will end and nothing prevents it; undefined while it is kept alive. */
  get fading(): string | undefined {
    const left = this.secondsLeft();
    if (left === undefined) {
      return this.#refused
        ? 'the token can be neither looked up nor renewed: its end is not known'
        : undefined;
    }
    if (this.#prolonged || left === Number.POSITIVE_INFINITY) return undefined;
    const late = left < this.#fullLease * lateFraction;
    if (!late && !this.#refused) return undefined;
    const why = this.#refused ? 'its renewal is refused' : 'nothing renews or replaces it';
    return `the token ends in ${Math.round(left)} s, and ${why}`;
  }

  /** @throws VaultError when the token could neither be renewed nor replaced; it stays in use until it ends */
  async tend(signal: AbortSignal): Promise<TokenEvent> {
    const renewal = await this.renew(signal);
    if (renewal === 'enough') return 'renewed';
    const login = await this.#client.logIn(signal);
    this.takeUp(login);
    if (login.replaced) return 'logged-in';
    return renewal === 'little' ? 'renewed' : 'kept';
  }

  /**
   * Renews the token if that may work. After a refusal the next renewal waits for a successful login.
   * @returns whether the token lives long enough now, or a login is due
   * @throws VaultError of kind `unavailable`
   */
  async renew(signal: AbortSignal): Promise<'enough' | 'little' | 'no'> {
    const renewal = await this.#renewed(signal);
    this.#prolonged = renewal === 'enough';
    return renewal;
  }

  /** If the token is still the same, a refused lookup must not replace what the last renewal said. */
  takeUp({ replaced, ...lease }: Login): void {
    if (replaced || lease.leaseSeconds !== undefined) this.#hold(lease);
    this.#mayRenew = true;
    if (!replaced) return;
    this.#fullLease = lease.leaseSeconds ?? 0;
    this.#refused = false;
    this.#prolonged = true;
  }

  #hold(lease: TokenLease): void {
    this.#lease = lease;
    const { leaseSeconds } = lease;
    if (leaseSeconds === undefined) this.#endsAt = undefined;
    else this.#endsAt = leaseSeconds > 0 ? this.#now() + leaseSeconds * 1000 : Number.POSITIVE_INFINITY;
  }

  async #renewed(signal: AbortSignal): Promise<'enough' | 'little' | 'no'> {
    if (!this.#mayRenew || !this.#lease.renewable) return 'no';
    try {
      this.#hold(await this.#client.renew(signal));
      this.#refused = false;
    } catch (error) {
      if (!isVaultError(error) || error.kind === 'unavailable') throw error;
      this.#mayRenew = false;
      this.#refused = true;
      return 'no';
    }
    const leaseSeconds = this.#lease.leaseSeconds ?? 0;
    this.#fullLease ||= leaseSeconds;
    return gainsEnough(leaseSeconds, this.#fullLease) ? 'enough' : 'little';
  }
}
