import type { Command } from '@oclif/core/command';
import type { KubeClient } from '../cluster/kube/client.ts';
import type { VaultRequest } from '../keyserver/contract.ts';
import type { ResolvedVaultSettings } from '../keyserver/settings.ts';
import { componentCommand as make } from '../runtime/cli/component-command.ts';
import type { Component, ComponentCommandOptions } from '../runtime/component/contract.ts';
import type { RunOptions } from '../runtime/component/read-config.ts';
import type { Health } from '../runtime/health/health.ts';
import type { Logger } from '../runtime/logging/logger.ts';
import type { Resolved, Settings } from '../runtime/settings/setting.ts';

export interface VaultConnectionOptions {
  /** Default: warnings as text on standard error. */
  readonly log?: Logger;
  /** Its condition `vault` shows whether there is a valid token. */
  readonly health?: Health;
}

/** A login at the key server; the token is renewed or replaced until `close`. */
export interface VaultConnection {
  /**
   * Retries requests that may be repeated, for at most 8 s.
   * @returns the parsed body of a 2xx response
   * @throws SvcError if the server refuses or cannot be reached; the signal's reason when aborted
   */
  request(request: VaultRequest): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Resolves after the first attempt to log in; after a failure, attempts continue in the background.
 * @param settings resolved `vaultSettings` that passed `vaultRules`
 * @throws SvcError (exit 78) if TLS files cannot be used
 */
export async function connectVault(
  settings: ResolvedVaultSettings,
  { log, health }: VaultConnectionOptions = {},
): Promise<VaultConnection> {
  const [{ createVaultClient }, { vaultConfig }] = await Promise.all([
    import('../keyserver/client.ts'),
    import('../keyserver/settings.ts'),
  ]);
  const client = createVaultClient({
    component: 'plugin',
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

/**
 * A client of the API server from `KUBECONFIG`, else of the pod that this runs in, else from `~/.kube/config`.
 * @returns undefined if there is none of these
 * @throws SvcError (exit 78) if a kubeconfig cannot be used
 */
export async function connectCluster(
  env: Readonly<Record<string, string | undefined>>,
): Promise<KubeClient | undefined> {
  const { createKubeClient } = await import('../cluster/kube/create-client.ts');
  return createKubeClient(env);
}

/**
 * The settings of a command that is not a component, read as `svc run` reads a component's: flag before variable before
 * file before default. Secret values are redacted from every log from then on.
 * @param owner the command's name, which is also its section of the file, its settings, and rules across settings
 * @throws SvcError CONFIG_INVALID (exit 78) that lists every error
 */
export async function readSettings<S extends Settings>(
  owner: Pick<Component<S>, 'name' | 'settings' | 'check'>,
  options: RunOptions,
): Promise<Resolved<S>> {
  const { readConfig } = await import('../runtime/component/read-config.ts');
  return (await readConfig(owner, options)).own;
}

/**
 * The command that runs a component, to be the default export of `commands/run/<name>`. It has a flag for each setting,
 * the common flags and `--config`, and ends with the component's exit status.
 */
export const componentCommand: <S extends Settings>(options: ComponentCommandOptions<S>) => Command.Class =
  make;
