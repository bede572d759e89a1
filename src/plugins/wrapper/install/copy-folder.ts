import { chmodSync, copyFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { exitStatus, SvcError } from '../../../core/errors.ts';
import { manifestName, manifestOf } from './own-folder.ts';

/** Where the private authorities of a cluster are mounted, for which a read-only folder must have a place. */
const certificates = 'certs';
const readableForAll = 0o022;

/**
 * Copies a self-contained folder into another, which is there. Each file takes its place whole, the manifest last, so
 * that a copy that was cut off is made whole by the next one. Sets the umask of the process.
 * @param isThere leaves a file out
 * @returns how many files
 * @throws SvcError COPY_FAILED (exit 71)
 */
export function copyFolder(
  from: string,
  to: string,
  isThere: (file: string) => boolean = () => false,
): number {
  process.umask(readableForAll);
  try {
    const files = [...Object.keys(manifestOf(from).files), manifestName].filter((file) => !isThere(file));
    for (const file of files) copyFile(join(from, file), join(to, file));
    mkdirSync(join(to, certificates), { recursive: true });
    return files.length;
  } catch (cause) {
    throw copyFailed(from, to, cause);
  }
}

export function copyFailed(from: string, to: string, cause: unknown): SvcError {
  return new SvcError('COPY_FAILED', `${from} cannot be copied to ${to}`, {
    nextStep: 'Give a folder that is there and can be written, on a volume with 256 MiB.',
    exitStatus: exitStatus.system,
    cause,
  });
}

function copyFile(from: string, to: string): void {
  const part = `${to}.part`;
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, part);
  chmodSync(part, statSync(from).mode & 0o777);
  renameSync(part, to);
}
