import { fileURLToPath } from 'node:url';
import { type Child, launch } from '../../../support/child.ts';
import { cleanEnv } from '../../../support/clean-env.ts';
import { runCommand } from '../../../support/run-command.ts';
import type { CommandResult, S3Target } from '../../../support/types.ts';

const entry = fileURLToPath(new URL('../../../../bin/run.js', import.meta.url));

/** Where `svc proxy decrypt` reads from, and who opens the keys. */
export interface Setting {
  readonly store: Omit<S3Target, 'caFile'>;
  readonly vault: { readonly addr: string; readonly token: string };
  /** Besides. */
  readonly env?: Readonly<Record<string, string>>;
}

const environment = ({ store, vault, env }: Setting): Record<string, string> => ({
  SVC_PROXY_UPSTREAM: store.endpoint,
  AWS_REGION: store.region,
  AWS_ACCESS_KEY_ID: store.accessKeyId,
  AWS_SECRET_ACCESS_KEY: store.secretAccessKey,
  AWS_EC2_METADATA_DISABLED: 'true',
  VAULT_ADDR: vault.addr,
  VAULT_TOKEN: vault.token,
  ...env,
});

const command = (source: string, to: string, args: readonly string[]) => [
  ...[entry, 'proxy', 'decrypt', source, '--to', to, ...args],
];

export const decrypt = (
  setting: Setting,
  source: string,
  to: string,
  ...args: string[]
): Promise<CommandResult> =>
  runCommand(process.execPath, command(source, to, args), '/', { env: environment(setting) });

/** The same, left running. */
export const beginDecrypt = (
  setting: Setting,
  source: string,
  to: string,
  ...args: string[]
): Promise<Child> =>
  launch(process.execPath, command(source, to, args), { env: cleanEnv(environment(setting)) });

export interface Report {
  readonly listed: number;
  readonly done: number;
  readonly skipped: number;
  readonly unencrypted: number;
  readonly bytes: number;
  readonly faultCount: number;
  readonly faults: readonly { readonly key: string; readonly reason: string }[];
  readonly renamed: readonly { readonly key: string; readonly path: string }[];
  readonly error?: { readonly code: string };
}

export const reportOf = ({ stdout, stderr }: CommandResult): Report => {
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`no report: ${stdout}${stderr}`);
  }
};
