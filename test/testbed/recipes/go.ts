import { join } from 'node:path';
import { exec } from '../exec.ts';
import type { CachedRecipe } from '../types.ts';
import { goBuild } from './go-build.ts';

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

/** The same for a module that `go install` refuses, because its go.mod replaces others: built where Go keeps its source. */
export function goModuleTool(
  command: string,
  module: string,
  version: string,
  packagePath: string,
  tags: readonly string[] = [],
): CachedRecipe {
  const flags = ['build', '-trimpath', '-ldflags=-s -w', ...tags.map((tag) => `-tags=${tag}`)];
  return {
    kind: 'cached',
    version,
    id: `go ${[module, version, ...flags, packagePath].join(' ')}`,
    bins: { [command]: command },
    async build(dir) {
      const { Dir } = JSON.parse(await exec('go', ['mod', 'download', '-json', `${module}@${version}`]));
      await goBuild({ name: command, cwd: Dir, flags, output: join(dir, command), packages: [packagePath] });
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
export const restic = goModuleTool('restic', 'github.com/restic/restic', 'v0.18.1', './cmd/restic');
export const opentofu = goModuleTool('tofu', 'github.com/opentofu/opentofu', 'v1.12.6', './cmd/tofu');
/** With the tag of its own Makefile: without it, its servers panic. */
const THANOS_TAGS = ['slicelabels'];
export const thanos = goModuleTool(
  'thanos',
  'github.com/thanos-io/thanos',
  'v0.42.4',
  './cmd/thanos',
  THANOS_TAGS,
);
