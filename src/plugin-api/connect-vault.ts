import type { Health } from '../runtime/health/health.ts';
import type { Logger } from '../runtime/logging/logger.ts';
import type { VaultRequest } from '../runtime/vault/contract.ts';
import type { ResolvedVaultSettings } from '../runtime/vault/settings.ts';

export interface VaultConnectionOptions {
  /** Default: warnings as text on standard error. */
  readonly log?: Logger;
  /** Where its condition `vault` says whether a token can be had. */
  readonly health?: Health;
}

/** Logged in at the key server; the token is renewed, or another one fetched, until `close`. */
export interface VaultConnection {
  /**
   * Repeats what may be repeated, for 8 s at most.
   * @returns the parsed body of a 2xx
   * @throws SvcError that says what the server refused, or that it cannot be reached; the signal's reason when aborted
   */
  request(request: VaultRequest): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Resolves after the first attempt to log in; where it failed, others follow by themselves.
 * @param settings what `vaultSettings` were resolved to, under `vaultRules`
 * @throws SvcError (exit 78) where TLS files cannot be used
 */
export async function connectVault(
  settings: ResolvedVaultSettings,
  { log, health }: VaultConnectionOptions = {},
): Promise<VaultConnection> {
  const [{ createVaultClient }, { vaultConfig }] = await Promise.all([
    import('../runtime/vault/client.ts'),
    import('../runtime/vault/config.ts'),
  ]);
  const client = createVaultClient({
    config: vaultConfig(settings),
    log: log ?? (await warnings()),
    onState: ({ ready, reason }) => (ready ? health?.ready('vault') : health?.notReady('vault', reason)),
  });
  await client.start();
  return client;
}

async function warnings(): Promise<Logger> {
  const { createLogger } = await import('../runtime/logging/create-logger.ts');
  return createLogger({ component: 'vault', level: 'warn', format: 'text' });
}
