import type { Region } from '../../native/region.ts';

/** How long the token in use lasts. */
export interface Lease {
  /** 0 where it has no end; undefined where the token may not look itself up. */
  readonly leaseSeconds: number | undefined;
  /** Whether a renewal may work: true where that is not known either. */
  readonly renewable: boolean;
}

export interface RenewedLease extends Lease {
  readonly leaseSeconds: number;
}

export interface Login extends Lease {
  /** Whether the token is another one than before: the one that was given is only looked up. */
  readonly replaced: boolean;
}

export interface SecretField {
  readonly name: string;
  /** In secret memory, until the document is released: UTF-8 of a string, compact JSON of anything else. */
  readonly value: Uint8Array;
}

export interface SecretDocument {
  /** As it was asked for. */
  readonly path: string;
  readonly kvVersion: 1 | 2;
  /** Of KV version 2. */
  readonly version: number | undefined;
  readonly fields: readonly SecretField[];
  /** Zeroes the memory behind every value, which must not be touched afterwards. Repeat calls are harmless. */
  release(): void;
}

/**
 * Reads secrets without a string ever being made of a token or a value.
 * Each operation is one attempt and fails with a VaultError, whose kind says whether another may succeed,
 * with the signal's reason, or with an SvcError (exit 71) where there is no memory for secrets.
 */
export interface SecretClient {
  /** Gets a token: from its file, by the service account, or the one that was given, which is looked up. */
  logIn(signal: AbortSignal): Promise<Login>;
  renew(signal: AbortSignal): Promise<RenewedLease>;
  /**
   * `secret/app`, `secret/data/app`, `/secret/app/` and `v1/secret/app` mean the same in KV version 2.
   * May be called while a login is under way: it is waited for where there is no token yet.
   */
  read(path: string, signal: AbortSignal): Promise<SecretDocument>;
  /**
   * Zeroes copies of the tokens and of the given values in native memory, where TLS and system libraries have left
   * them, except in `keep` and in what this client and its documents hold.
   * @returns how many copies were zeroed
   */
  scrub(values: readonly Buffer[], keep: readonly Region[]): number;
  /** Zeroes the token and every buffer. What is under way fails. Documents stay until they are released. */
  close(): void;
}
