import { readFile } from 'node:fs/promises';
import { readDockerConfigJson } from '../../../core/image/docker-config.ts';
import { ImageError } from '../../../core/image/image-error.ts';
import type { PullCredentials } from './pull-secrets.ts';

const none: PullCredentials = { credentials: [], problems: [] };
const largest = 1024 * 1024;

/**
 * What the operator itself shows to registries that a pod's own secrets do not open, as nodes do with their credentials.
 * Read anew for each look-up: whoever renews them writes the file again.
 * @param path of a Docker configuration, as pull secrets hold it; undefined: it has none
 */
export async function ownCredentials(path: string | undefined): Promise<PullCredentials> {
  if (path === undefined) return none;
  try {
    const text = await readFile(path, 'utf8');
    if (text.length > largest) throw new ImageError('it is too long');
    return { credentials: readDockerConfigJson(text), problems: [] };
  } catch (error) {
    const why = error instanceof ImageError ? error.message : (error as NodeJS.ErrnoException).code;
    return { credentials: [], problems: [`the operator's own credentials cannot be used: ${why}`] };
  }
}
