import { isVaultError } from '../../../runtime/vault/errors.ts';
import type { Lease, SecretClient } from '../../../runtime/vault/secret-client/contract.ts';

type Client = Pick<SecretClient, 'logIn' | 'renew'>;

export type TokenEvent = 'renewed' | 'logged-in';

const shortestRetryMs = 1_000;

/** Keeps one token alive: renews it, and logs in again when that is refused or gains too little. */
export class TokenKeeper {
  readonly #client: Client;
  readonly #now: () => number;
  #lease: Lease;
  #endsAt = Number.POSITIVE_INFINITY;
  /** Seconds that the token had when it was new. */
  #fullLease: number;
  #mayRenew = true;

  /** @param now a clock in ms that never goes back */
  constructor(client: Client, lease: Lease, now = () => performance.now()) {
    this.#client = client;
    this.#now = now;
    this.#lease = lease;
    this.#fullLease = lease.leaseSeconds;
    this.#hold(lease);
  }

  /** When to tend it next, in ms: every interval, and well before the token ends. */
  delayMs(intervalMs: number): number {
    const { leaseSeconds } = this.#lease;
    return leaseSeconds > 0 ? Math.min(intervalMs, (leaseSeconds * 1000 * 2) / 3) : intervalMs;
  }

  /**
   * How long it may take at most, in ms, until it is tended again after a failure: a token that nobody can replace is
   * not to run out while it could still be renewed. Infinity when it has run out or has no end.
   */
  longestRetryMs(): number {
    const left = this.#endsAt - this.#now();
    return left > 0 ? Math.max(shortestRetryMs, left / 2) : Number.POSITIVE_INFINITY;
  }

  /** @throws VaultError when the token could neither be renewed nor replaced; it stays in use until it ends */
  async tend(signal: AbortSignal): Promise<TokenEvent> {
    if (await this.#renewed(signal)) return 'renewed';
    this.#hold(await this.#client.logIn(signal));
    this.#fullLease = this.#lease.leaseSeconds;
    this.#mayRenew = true;
    return 'logged-in';
  }

  #hold(lease: Lease): void {
    this.#lease = lease;
    const { leaseSeconds } = lease;
    this.#endsAt = leaseSeconds > 0 ? this.#now() + leaseSeconds * 1000 : Number.POSITIVE_INFINITY;
  }

  /** A refused renewal is not asked for again before a login has brought a new token. */
  async #renewed(signal: AbortSignal): Promise<boolean> {
    if (!this.#mayRenew || !this.#lease.renewable) return false;
    try {
      this.#hold(await this.#client.renew(signal));
    } catch (error) {
      if (!isVaultError(error) || error.kind === 'unavailable') throw error;
      this.#mayRenew = false;
      return false;
    }
    return this.#lease.leaseSeconds >= this.#fullLease / 2;
  }
}
