import { fileURLToPath } from 'node:url';
import {
  GetObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { type Bed, BUCKET } from '../../../clients/bed.ts';
import { type Child, launch } from '../../../support/child.ts';
import { cleanEnv } from '../../../support/clean-env.ts';
import { runCommand } from '../../../support/run-command.ts';
import type { CommandResult, S3Target } from '../../../support/types.ts';

const entry = fileURLToPath(new URL('../../../../bin/run.js', import.meta.url));

export interface MigrateSetting {
  readonly store: Omit<S3Target, 'caFile'>;
  readonly vault: { readonly addr: string; readonly token: string };
}

export const settingOf = async ({ store, bao }: Bed): Promise<MigrateSetting> => ({
  store,
  vault: { addr: bao.url, token: await bao.policyToken() },
});

export const migrateEnv = ({ store, vault }: MigrateSetting): Record<string, string> => ({
  SVC_PROXY_UPSTREAM: store.endpoint,
  AWS_REGION: store.region,
  AWS_ACCESS_KEY_ID: store.accessKeyId,
  AWS_SECRET_ACCESS_KEY: store.secretAccessKey,
  AWS_EC2_METADATA_DISABLED: 'true',
  VAULT_ADDR: vault.addr,
  VAULT_TOKEN: vault.token,
});

export const migrate = (setting: MigrateSetting, at: string, ...args: string[]): Promise<CommandResult> =>
  runCommand(process.execPath, [entry, 'proxy', 'migrate', at, ...args], '/', { env: migrateEnv(setting) });

/** The same, left running. */
export const beginMigrate = (setting: MigrateSetting, at: string, ...args: string[]): Promise<Child> =>
  launch(process.execPath, [entry, 'proxy', 'migrate', at, ...args], { env: cleanEnv(migrateEnv(setting)) });

/** `svc audit` of what lies under the prefix, which fails on every error that it finds. */
export function audit(
  setting: MigrateSetting,
  prefix: string,
  { bucket = BUCKET, timeoutMs }: { readonly bucket?: string; readonly timeoutMs?: number } = {},
): Promise<CommandResult> {
  const args = ['audit', '--bucket', bucket, '--prefix', prefix, '--fail-on', 'error'];
  const options = { env: migrateEnv(setting), ...(timeoutMs !== undefined && { timeoutMs }) };
  return runCommand(process.execPath, [entry, ...args], '/', options);
}

export interface MigrateResult {
  readonly listed: number;
  readonly current: number;
  readonly migrated: number;
  readonly replaced: number;
  readonly pending: number;
  readonly left: number;
  readonly leftPlaintext: number;
  readonly gone: number;
  readonly fromPlaintext: number;
  readonly fromFormat1: number;
  readonly bytes: number;
  readonly complete: boolean;
  readonly unconditional?: readonly string[];
  readonly estimate?: {
    readonly requests: number;
    readonly bytesRead: number;
    readonly bytesWritten: number;
  };
  readonly faultCount: number;
  readonly faults: readonly { readonly key: string; readonly reason: string }[];
  readonly error?: { readonly code: string };
}

export const migrateResult = ({ stdout, stderr }: CommandResult): MigrateResult => {
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`no report: ${stdout}${stderr}`);
  }
};

export async function read(client: S3Client, Key: string, VersionId?: string): Promise<Buffer> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key, VersionId }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

export const head = (client: S3Client, Key: string): Promise<HeadObjectCommandOutput> =>
  client.send(new HeadObjectCommand({ Bucket: BUCKET, Key, ChecksumMode: 'ENABLED' }));
