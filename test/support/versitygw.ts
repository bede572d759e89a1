import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { requireTool } from '../testbed/ensure.ts';
import { startObjectStore } from './object-store.ts';
import type { ObjectStore, StoreOptions } from './types.ts';

/**
 * Starts versitygw over a temporary folder.
 * @throws ToolUnavailable where it cannot be had
 */
export async function startVersityGw(options: StoreOptions = {}): Promise<ObjectStore> {
  const { bins } = await requireTool('versitygw');
  return startObjectStore('versitygw', options, ({ accessKeyId, secretAccessKey, folder, dataDir, tls }) => {
    const users = subfolder(folder, 'users');
    const versions = options.versioning ? ['--versioning-dir', subfolder(folder, 'versions')] : [];
    const identity = tls ? ['--cert', tls.cert, '--key', tls.key] : [];
    const keepAlive = options.keepAlive ? ['--keep-alive'] : [];
    const common = ['--iam-dir', users, '--quiet', ...identity, ...keepAlive];
    return {
      name: 'versitygw',
      command: bins.versitygw as string,
      args: (port) => ['--port', `127.0.0.1:${port}`, ...common, 'posix', ...versions, dataDir],
      env: { ROOT_ACCESS_KEY_ID: accessKeyId, ROOT_SECRET_ACCESS_KEY: secretAccessKey },
    };
  });
}

function subfolder(parent: string, name: string): string {
  const path = join(parent, name);
  mkdirSync(path);
  return path;
}
