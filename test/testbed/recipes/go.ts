import { exec } from '../exec.ts';
import type { CachedRecipe } from '../types.ts';

/** A command built from a Go module at an exact version. */
export function goTool(
  command: string,
  packagePath: string,
  moduleVersion: string,
  version = moduleVersion,
): CachedRecipe {
  const args = ['install', '-ldflags=-s -w', `${packagePath}@${moduleVersion}`];
  return {
    kind: 'cached',
    version,
    id: `go ${args.join(' ')}`,
    bins: { [command]: command },
    async build(dir) {
      await exec('go', args, { env: { ...process.env, GOBIN: dir } });
    },
  };
}

export const versitygw = goTool('versitygw', 'github.com/versity/versitygw/cmd/versitygw', 'v1.8.0');
export const minio = goTool(
  'minio',
  'github.com/minio/minio',
  'v0.0.0-20260212201848-7aac2a2c5b7c',
  '20260212',
);
export const rclone = goTool('rclone', 'github.com/rclone/rclone', 'v1.75.1');
