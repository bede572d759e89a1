import { messageOf } from '../../../core/errors.ts';
import { retry } from '../../../runtime/lifecycle/retry.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { mayPass } from '../../../runtime/vault/errors.ts';
import type { Lease, SecretClient, SecretDocument } from '../../../runtime/vault/secret-client/contract.ts';
import { readAll, releaseAll } from './read-all.ts';

export interface FetchOptions {
  readonly paths: readonly string[];
  /** No attempt begins later than this after the first. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export interface Fetched {
  readonly lease: Lease;
  readonly documents: readonly SecretDocument[];
}

/** Short, so that an application is up soon after a key server that was sealed. */
const backoff = { initialMs: 100, maxMs: 600 };

/**
 * Logs in once and reads every path (side by side where the token is known already), again while the key server is sealed, away or busy.
 * @throws VaultError: a refusal at once, `unavailable` (exit 69) when the time is up
 */
export async function fetchSecrets(client: SecretClient, options: FetchOptions): Promise<Fetched> {
  const { paths, timeoutMs, signal, log } = options;
  let lease: Lease | undefined;
  const attempt = async (): Promise<Fetched> => {
    const [login, reading] = await Promise.allSettled([
      lease ?? client.logIn(signal),
      readAll(client, paths, signal),
    ]);
    if (login.status === 'rejected') {
      if (reading.status === 'fulfilled') releaseAll(reading.value);
      throw login.reason;
    }
    lease = login.value;
    if (reading.status === 'rejected') throw reading.reason;
    return { lease, documents: reading.value };
  };
  return retry(attempt, {
    ...backoff,
    maxElapsedMs: timeoutMs,
    signal,
    isRetryable: mayPass,
    onRetry: (error, delayMs, count) => complain(log, error, delayMs, count),
  });
}

/** The first failure is told, then every tenth: a minute of attempts must not fill a log. */
function complain(log: Logger, error: unknown, delayMs: number, count: number): void {
  if (count % 10 !== 1) return;
  const reason = messageOf(error);
  log.warn('secrets.waiting', { error: reason, attempt: count, retry_ms: Math.round(delayMs) });
}
