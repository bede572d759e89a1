import type { Command } from '@oclif/core/command';
import type { Resolved, Settings } from '../core/settings/setting.ts';
import { componentCommand as make } from '../runtime/cli/component-command.ts';
import type { Component, ComponentCommandOptions } from '../runtime/component/contract.ts';
import type { RunOptions } from '../runtime/component/read-config.ts';
import type { Health } from '../runtime/health/health.ts';
import type { KubeClient } from '../runtime/kube/client.ts';
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
    import('../runtime/vault/settings.ts'),
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

/**
 * A client of the API server of `KUBECONFIG`, else of the pod that this runs in, else of `~/.kube/config`.
 * @returns undefined where there is none of them
 * @throws SvcError (exit 78) when a kubeconfig cannot be used
 */
export async function connectCluster(
  env: Readonly<Record<string, string | undefined>>,
): Promise<KubeClient | undefined> {
  const { createKubeClient } = await import('../runtime/kube/create-client.ts');
  return createKubeClient(env);
}

/**
 * The settings of a command that is no component, as `svc run` reads those of one: flag before variable before file
 * before default. Secret ones are kept out of every log from then on.
 * @param owner its name, which is also its section of the file; its settings, and what they need from each other
 * @throws SvcError CONFIG_INVALID (exit 78) that names every error at once
 */
export async function readSettings<S extends Settings>(
  owner: Pick<Component<S>, 'name' | 'settings' | 'check'>,
  options: RunOptions,
): Promise<Resolved<S>> {
  const { readConfig } = await import('../runtime/component/read-config.ts');
  return (await readConfig(owner, options)).own;
}

/**
 * The command that runs a component; the default export of `commands/run/<name>`. It has a flag for each setting, the
 * common ones and `--config`, and ends with the component's exit status.
 */
export const componentCommand: <S extends Settings>(options: ComponentCommandOptions<S>) => Command.Class =
  make;
