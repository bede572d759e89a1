import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { exitStatus, SvcError } from '../../core/errors.ts';

/** A folder in which one `svc dev` at a time keeps keys and objects. */
export interface DataFolder {
  readonly path: string;
  readonly keyFile: string;
  readonly storeFolder: string;
  /** Lets another take it. */
  release(): void;
}

/** Makes the folder where it is missing, and takes it. @throws SvcError DEV_DATA */
export function takeDataFolder(given: string): DataFolder {
  if (given === '') throw unusable('has no name', 'given by --data', undefined);
  const path = resolve(given);
  const lock = join(path, 'svc-dev.pid');
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    takeLock(lock);
  } catch (cause) {
    if (cause instanceof SvcError) throw cause;
    throw unusable(`cannot be used (${(cause as NodeJS.ErrnoException).code})`, path, cause);
  }
  return {
    path,
    keyFile: join(path, 'keys.json'),
    storeFolder: join(path, 'store'),
    release: () => rmSync(lock, { force: true }),
  };
}

function takeLock(lock: string): void {
  try {
    writeFileSync(lock, `${process.pid}\n`, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const holder = Number(readFileSync(lock, 'utf8'));
    if (isAlive(holder)) throw unusable(`is in use by process ${holder}`, resolve(lock, '..'), error);
    writeFileSync(lock, `${process.pid}\n`);
  }
}

/** A process that crashed leaves its lock behind. */
function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const unusable = (why: string, path: string, cause: unknown): SvcError =>
  new SvcError('DEV_DATA', `The folder ${path} ${why}`, {
    nextStep: 'Give another folder with --data, or none to keep everything in memory.',
    exitStatus: exitStatus.config,
    cause,
  });
