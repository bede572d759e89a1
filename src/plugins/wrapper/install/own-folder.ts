import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { exitStatus, SvcError } from '../../../core/errors.ts';

/** Names every other file of the folder; `scripts/lib/wrapper-folder` writes it. */
export const manifestName = 'MANIFEST.json';

/**
 * The self-contained folder whose Node runs this process, `/svc` in a container.
 * @throws SvcError NOT_SELF_CONTAINED (exit 78) where another Node does
 */
export function ownFolder(program: string = process.execPath): string {
  if (isSelfContained(program)) return dirname(dirname(program));
  throw new SvcError('NOT_SELF_CONTAINED', `${program} is not the Node of a self-contained folder`, {
    nextStep:
      'Run svc-wrapper of such a folder, as `npm run bundle:wrapper` makes it, or of the wrapper image.',
    exitStatus: exitStatus.config,
  });
}

export function isSelfContained(program: string = process.execPath): boolean {
  return existsSync(join(dirname(dirname(program)), manifestName));
}

export interface FileFacts {
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

interface Manifest {
  /** By path within the folder. */
  readonly files: Readonly<Record<string, FileFacts>>;
}

export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, manifestName), 'utf8')) as Manifest;
}
