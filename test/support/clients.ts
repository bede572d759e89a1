import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireTool } from '../testbed/ensure.ts';
import type { ToolName } from '../testbed/types.ts';
import { runCommand } from './run-command.ts';
import { temporaryFolder } from './temporary.ts';
import type { ClientRunOptions, Clients, S3Target } from './types.ts';

const BOTO3_PRELUDE = `
import hashlib, io, json, os, sys
import boto3
from botocore.config import Config
s3 = boto3.client('s3', endpoint_url=os.environ['AWS_ENDPOINT_URL'],
                  config=Config(s3={'addressing_style': 'path'}, retries={'total_max_attempts': 1}))
`;

/**
 * Presets external S3 clients for a target. A client that cannot be had throws ToolUnavailable when first
 * called. Retries are off where the client can turn them off.
 */
export function clientsFor(target: S3Target): Clients {
  const folder = temporaryFolder('clients');
  const dir = folder.path;
  const s3cmdConfig = join(dir, 's3cfg');
  const environment = baseEnvironment(target, dir);
  const trust = target.caFile ? { AWS_CA_BUNDLE: target.caFile } : {};
  writeFileSync(s3cmdConfig, s3cmdSettings(target));

  const run = async (
    tool: ToolName,
    bin: string,
    args: readonly string[],
    options: ClientRunOptions = {},
  ) => {
    const { bins } = await requireTool(tool);
    return runCommand(bins[bin] as string, args, dir, {
      ...options,
      env: { ...environment, ...options.env },
    });
  };
  const runAws: typeof run = (tool, bin, args, options = {}) =>
    run(tool, bin, args, { ...options, env: { ...trust, ...options.env } });
  /** A flag: rclone fails where AWS_CA_BUNDLE is set. */
  const caFlag = target.caFile ? ['--ca-cert', target.caFile] : [];
  const endpoint = ['--endpoint-url', target.endpoint];
  return {
    dir,
    aws: (args, options) => runAws('awscli', 'aws', [...endpoint, ...args], options),
    awsV1: (args, options) => runAws('boto3', 'python', ['-m', 'awscli', ...endpoint, ...args], options),
    s3cmd: (args, options) => run('s3cmd', 's3cmd', ['--config', s3cmdConfig, ...args], options),
    rclone: (args, options) => run('rclone-client', 'rclone', [...caFlag, ...args], options),
    minioGo: (args, options) =>
      run(
        'minio-go-client',
        'minio-go-client',
        [`--address=${new URL(target.endpoint).host}`, ...args],
        options,
      ),
    boto3: (script, options) => runAws('boto3', 'python', ['-c', BOTO3_PRELUDE + script], options),
    stop: folder.remove,
  };
}

function baseEnvironment(target: S3Target, home: string): Record<string, string> {
  const { endpoint, region, accessKeyId, secretAccessKey } = target;
  return {
    HOME: home,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_DEFAULT_REGION: region,
    AWS_REGION: region,
    AWS_ENDPOINT_URL: endpoint,
    AWS_CONFIG_FILE: join(home, 'aws-config'),
    AWS_SHARED_CREDENTIALS_FILE: join(home, 'aws-credentials'),
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_MAX_ATTEMPTS: '1',
    AWS_PAGER: '',
    RCLONE_CONFIG: '/dev/null',
    RCLONE_CONFIG_SVC_TYPE: 's3',
    RCLONE_CONFIG_SVC_PROVIDER: 'Other',
    RCLONE_CONFIG_SVC_ENV_AUTH: 'true',
    RCLONE_CONFIG_SVC_ENDPOINT: endpoint,
    RCLONE_CONFIG_SVC_REGION: region,
    RCLONE_CONFIG_SVC_FORCE_PATH_STYLE: 'true',
    RCLONE_RETRIES: '1',
    RCLONE_LOW_LEVEL_RETRIES: '1',
  };
}

function s3cmdSettings({ endpoint, region, accessKeyId, secretAccessKey, caFile }: S3Target): string {
  const { host, protocol } = new URL(endpoint);
  const settings = {
    access_key: accessKeyId,
    secret_key: secretAccessKey,
    host_base: host,
    host_bucket: host,
    bucket_location: region,
    use_https: protocol === 'https:' ? 'True' : 'False',
    signature_v2: 'False',
    max_retries: '1',
    ca_certs_file: caFile ?? '',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  return `[default]\n${lines.join('\n')}\n`;
}
