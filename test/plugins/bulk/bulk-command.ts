import { fileURLToPath } from 'node:url';
import type { Bed } from '../../clients/bed.ts';
import { type Child, launch } from '../../support/child.ts';
import { cleanEnv } from '../../support/clean-env.ts';
import { runCommand } from '../../support/run-command.ts';
import type { CommandResult, S3Target } from '../../support/types.ts';

const entry = fileURLToPath(new URL('../../../bin/run.js', import.meta.url));

/** Where a command over a bucket reads from, and who opens the keys. */
export interface BulkSetting {
  readonly store: Omit<S3Target, 'caFile'>;
  readonly vault: { readonly addr: string; readonly token: string };
  /** Besides. */
  readonly env?: Readonly<Record<string, string>>;
}

export const settingOf = async ({ store, bao }: Bed): Promise<BulkSetting> => ({
  store,
  vault: { addr: bao.url, token: await bao.policyToken() },
});

/** Runs `svc` with those words to its end. */
export const runBulk = (
  setting: BulkSetting,
  words: readonly string[],
  options: { readonly timeoutMs?: number } = {},
): Promise<CommandResult> =>
  runCommand(process.execPath, [entry, ...words], '/', { ...options, env: environment(setting) });

/** The same, left running. */
export const beginBulk = (setting: BulkSetting, words: readonly string[]): Promise<Child> =>
  launch(process.execPath, [entry, ...words], { env: cleanEnv(environment(setting)) });

const environment = ({ store, vault, env }: BulkSetting): Record<string, string> => ({
  SVC_PROXY_UPSTREAM: store.endpoint,
  AWS_REGION: store.region,
  AWS_ACCESS_KEY_ID: store.accessKeyId,
  AWS_SECRET_ACCESS_KEY: store.secretAccessKey,
  AWS_EC2_METADATA_DISABLED: 'true',
  VAULT_ADDR: vault.addr,
  VAULT_TOKEN: vault.token,
  ...env,
});
