import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { release } from 'node:os';
import { delimiter, join } from 'node:path';
import { messageOf } from '../../../core/errors.ts';
import type { Env } from '../call.ts';
import type { Host } from './contract.ts';

/** The machine that this runs on. */
export function localHost(env: Env): Host {
  return {
    platform: process.platform,
    kernelRelease: release(),
    nodeVersion: process.version,
    read,
    exists: existsSync,
    hasProgram: (name) => folders(env).some((folder) => isExecutable(join(folder, name))),
    trySecretMemory,
  };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const folders = (env: Env) => (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function trySecretMemory(): Promise<string | undefined> {
  try {
    const { memfdSecretRegion, systemCall } = await import('../../../runtime/native/memfd-secret.ts');
    memfdSecretRegion(1, systemCall).release();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
