import { isVaultError } from '../../runtime/vault/contract.ts';
import { gainsEnough, type TokenLease } from '../../runtime/vault/logins.ts';
import type { Login, SecretClient } from '../../runtime/vault/secret-client/contract.ts';

type Client = Pick<SecretClient, 'logIn' | 'renew'>;

/** What happened: `kept` where the token was neither renewed nor replaced. */
export type TokenEvent = 'renewed' | 'logged-in' | 'kept';

const shortestRetryMs = 1_000;

/** A renewal says what could not be looked up: soon, because the token may be short-lived. */
const unknownDelayMs = 1_000;

/** Share of a token's lifetime after which a warning says that nothing renews it. */
const lateFraction = 1 / 3;

/** Keeps one token alive: renews it, and logs in again when that is refused or gains too little. */
export class TokenKeeper {
  readonly #client: Client;
  readonly #now: () => number;
  #lease: TokenLease;
  #endsAt: number | undefined;
  /** Seconds that the token had when it was new. */
  #fullLease: number;
  #mayRenew = true;
  /** Whether the last renewal of this token was. */
  #refused = false;
  /** Whether the last attempt gained time, or another token. */
  #prolonged = true;

  /** @param now a clock in ms that never goes back */
  constructor(client: Client, lease: TokenLease, now = () => performance.now()) {
    this.#client = client;
    this.#now = now;
    this.#lease = lease;
    this.#fullLease = lease.leaseSeconds ?? 0;
    this.#hold(lease);
  }

  /** When to tend it next, in ms: every interval, well before the token ends, at once where its end is not known. */
  delayMs(intervalMs: number): number {
    const { leaseSeconds } = this.#lease;
    if (leaseSeconds === undefined && !this.#refused) return Math.min(intervalMs, unknownDelayMs);
    return leaseSeconds ? Math.min(intervalMs, (leaseSeconds * 1000 * 2) / 3) : intervalMs;
  }

  /**
   * How long it may take at most, in ms, until it is tended again after a failure: a token that nobody can replace is
   * not to run out while it could still be renewed. Infinity when it has run out or has no end.
   */
  longestRetryMs(): number {
    if (this.#lease.leaseSeconds === undefined && !this.#refused) return shortestRetryMs;
    const left = (this.#endsAt ?? Number.POSITIVE_INFINITY) - this.#now();
    return left > 0 ? Math.max(shortestRetryMs, left / 2) : Number.POSITIVE_INFINITY;
  }

  /** Until the token ends, at least 0: Infinity where it has no end, undefined where its end is not known. */
  secondsLeft(): number | undefined {
    return this.#endsAt === undefined ? undefined : Math.max(0, (this.#endsAt - this.#now()) / 1000);
  }

  /** Why the token will end with nobody to prevent it, or undefined while that is not so. */
  get fading(): string | undefined {
    const left = this.secondsLeft();
    if (left === undefined) {
      return this.#refused
        ? 'the token may be neither looked up nor renewed: when it ends is not known'
        : undefined;
    }
    if (this.#prolonged || left === Number.POSITIVE_INFINITY) return undefined;
    const late = left < this.#fullLease * lateFraction;
    if (!late && !this.#refused) return undefined;
    const why = this.#refused ? 'its renewal is refused' : 'nothing prolongs or replaces it';
    return `the token ends in ${Math.round(left)} s, and ${why}`;
  }

  /** @throws VaultError when the token could neither be renewed nor replaced; it stays in use until it ends */
  async tend(signal: AbortSignal): Promise<TokenEvent> {
    const renewal = await this.#renewed(signal);
    this.#prolonged = renewal === 'enough';
    if (this.#prolonged) return 'renewed';
    const login = await this.#client.logIn(signal);
    this.#takeUp(login);
    if (login.replaced) return 'logged-in';
    return renewal === 'little' ? 'renewed' : 'kept';
  }

  /** Of the same token, a lookup that was refused says less than the last renewal did. */
  #takeUp({ replaced, ...lease }: Login): void {
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

  /** A refused renewal is not asked for again before a login has worked. */
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
