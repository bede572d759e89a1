import {
  GetObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { BUCKET } from '../../../clients/bed.ts';
import type { Child } from '../../../support/child.ts';
import type { CommandResult } from '../../../support/types.ts';
import { type BulkSetting, beginBulk, runBulk } from '../bulk-command.ts';

export const migrate = (setting: BulkSetting, at: string, ...args: string[]): Promise<CommandResult> =>
  runBulk(setting, ['proxy', 'migrate', at, ...args]);

/** The same, left running. */
export const beginMigrate = (setting: BulkSetting, at: string, ...args: string[]): Promise<Child> =>
  beginBulk(setting, ['proxy', 'migrate', at, ...args]);

/** `svc audit` of what lies under the prefix, which fails on every error that it finds. */
export function audit(
  setting: BulkSetting,
  prefix: string,
  { bucket = BUCKET, timeoutMs }: { readonly bucket?: string; readonly timeoutMs?: number } = {},
): Promise<CommandResult> {
  const args = ['audit', '--bucket', bucket, '--prefix', prefix, '--fail-on', 'error'];
  return runBulk(setting, args, timeoutMs === undefined ? {} : { timeoutMs });
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
