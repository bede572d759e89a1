import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { requireTool } from '../testbed/ensure.ts';
import { startObjectStore } from './object-store.ts';
import type { ObjectStore, StoreOptions } from './types.ts';

/**
 * Starts MinIO over a temporary folder (it can always version and lock objects).
 * @throws ToolUnavailable where it cannot be had
 */
export async function startMinio(options: Omit<StoreOptions, 'versioning'> = {}): Promise<ObjectStore> {
  const { bins } = await requireTool('minio');
  return startObjectStore('minio', options, ({ accessKeyId, secretAccessKey, folder, dataDir, tls }) => {
    const certificates = join(folder, 'certs');
    mkdirSync(certificates);
    if (tls) {
      copyFileSync(tls.cert, join(certificates, 'public.crt'));
      copyFileSync(tls.key, join(certificates, 'private.key'));
    }
    const common = ['server', '--quiet', '--certs-dir', certificates];
    return {
      name: 'MinIO',
      command: bins.minio as string,
      args: (port) => [...common, '--address', `127.0.0.1:${port}`, dataDir],
      env: {
        MINIO_ROOT_USER: accessKeyId,
        MINIO_ROOT_PASSWORD: secretAccessKey,
        MINIO_BROWSER: 'off',
        MINIO_UPDATE: 'off',
      },
    };
  });
}
