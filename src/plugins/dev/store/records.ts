import { hash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { exitStatus, SvcError } from '../../../core/errors.ts';
import { writeAtomically } from '../atomic-file.ts';

/** A small JSON document by name; names may hold anything. */
export interface Records {
  load(): unknown[];
  save(name: readonly string[], value: unknown): void;
  remove(name: readonly string[]): void;
}

/** Nothing outlives the process. */
export const noRecords: Records = { load: () => [], save: () => undefined, remove: () => undefined };

const own = /^[0-9a-f]{64}\.json$/;

/** One file a record, named by the hash of its name, in a folder that is there. */
export function fileRecords(folder: string): Records {
  const path = (name: readonly string[]) =>
    join(folder, `${hash('sha256', JSON.stringify(name), 'hex')}.json`);
  return {
    load: () =>
      readdirSync(folder)
        .filter((name) => own.test(name))
        .map((name) => read(join(folder, name))),
    save: (name, value) => writeAtomically(path(name), JSON.stringify(value)),
    remove: (name) => rmSync(path(name), { force: true }),
  };
}

function read(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new SvcError('DEV_STORE', `The development store's file ${path} cannot be read`, {
      nextStep: 'Mend or remove the file, or give another folder with --data.',
      exitStatus: exitStatus.config,
      cause,
    });
  }
}
