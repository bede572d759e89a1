import { isVaultError } from '../../../runtime/vault/errors.ts';
import type { Lease, SecretClient } from '../../../runtime/vault/secret-client/contract.ts';

type Client = Pick<SecretClient, 'logIn' | 'renew'>;

export type TokenEvent = 'renewed' | 'logged-in';

/** Keeps one token alive: renews it, and logs in again when that is refused or gains too little. */
export class TokenKeeper {
  readonly #client: Client;
  #lease: Lease;
  /** Seconds that the token had when it was new. */
  #fullLease: number;
  #mayRenew = true;

  constructor(client: Client, lease: Lease) {
    this.#client = client;
    this.#lease = lease;
    this.#fullLease = lease.leaseSeconds;
  }

  /** When to tend it next, in ms: every interval, and well before the token ends. */
  delayMs(intervalMs: number): number {
    const { leaseSeconds } = this.#lease;
    return leaseSeconds > 0 ? Math.min(intervalMs, (leaseSeconds * 1000 * 2) / 3) : intervalMs;
  }

  /** @throws VaultError when the token could neither be renewed nor replaced; it stays in use until it ends */
  async tend(signal: AbortSignal): Promise<TokenEvent> {
    if (await this.#renewed(signal)) return 'renewed';
    this.#lease = await this.#client.logIn(signal);
    this.#fullLease = this.#lease.leaseSeconds;
    this.#mayRenew = true;
    return 'logged-in';
  }

  /** A refused renewal is not asked for again before a login has brought a new token. */
  async #renewed(signal: AbortSignal): Promise<boolean> {
    if (!this.#mayRenew || !this.#lease.renewable) return false;
    try {
      this.#lease = await this.#client.renew(signal);
    } catch (error) {
      if (!isVaultError(error) || error.kind === 'unavailable') throw error;
      this.#mayRenew = false;
      return false;
    }
    return this.#lease.leaseSeconds >= this.#fullLease / 2;
  }
}
