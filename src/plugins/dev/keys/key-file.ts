import { readFileSync } from 'node:fs';
import { exitStatus, SvcError } from '../../../core/errors.ts';
import { writeAtomically } from '../atomic-file.ts';
import type { StoredTransitKey } from './transit-key.ts';

/** Keys by name, of each mounted transit engine. */
export type StoredMounts = Readonly<Record<string, Readonly<Record<string, StoredTransitKey>>>>;

/** Where mounts and keys outlive the process. */
export interface KeyFile {
  load(): StoredMounts;
  save(mounts: unknown): void;
}

const warning = 'Keys of svc dev, in the clear: for development only.';

/** Nothing outlives the process. */
export const noKeyFile: KeyFile = { load: () => ({}), save: () => undefined };

/** Keys in a file that only its owner can read. */
export function keyFile(path: string): KeyFile {
  return {
    load: () => read(path),
    save: (mounts) => writeAtomically(path, `${JSON.stringify({ warning, mounts }, undefined, 2)}\n`),
  };
}

/** @throws SvcError DEV_KEYS when the file is there and cannot be used: its keys may still be needed */
function read(path: string): StoredMounts {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).mounts;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new SvcError('DEV_KEYS', `The development keys in ${path} cannot be read`, {
      nextStep: 'Mend or move the file away; without its keys the objects beside it cannot be read.',
      exitStatus: exitStatus.config,
      cause,
    });
  }
}
