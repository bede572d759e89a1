import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import { folderBeside, pathParts, secondName } from './file-name.ts';
import { type DecryptedObject, Journal, type Place } from './journal.ts';
import { folderFailure, NameTaken } from './target.ts';

/** No key maps to a name that begins like this, because `%` is encoded. */
const ownFolder = '%svc-decrypt';

/** Decrypted content is readable by its owner only. */
const modes = { folder: 0o700, file: 0o600 } as const;

/** Plaintext on disk that has no final name yet. */
export interface Unplaced {
  readonly path: string;
  readonly bytes: number;
}

/** A target folder, used by one run at a time, with its journal of earlier runs. */
export class TargetFolder {
  readonly journal: Journal;
  readonly #root: string;
  /** Prefix removed from every key. */
  readonly #base: string;
  readonly #lock: string;
  #written = 0;

  private constructor(root: string, place: Place) {
    const own = join(root, ownFolder);
    this.#root = root;
    this.#base = place.prefix.slice(0, place.prefix.lastIndexOf('/') + 1);
    this.#lock = join(own, 'lock');
    takeLock(this.#lock);
    try {
      this.journal = Journal.open(own, place, true);
      rmSync(join(own, 'parts'), { recursive: true, force: true });
      mkdirSync(join(own, 'parts'), { mode: modes.folder });
    } catch (error) {
      rmSync(this.#lock, { force: true });
      throw error;
    }
  }

  /** @throws SvcError DECRYPT_FOLDER for a folder with other content, or in use by another run */
  static open(root: string, place: Place): TargetFolder {
    return inFolder(root, () => {
      mkdirSync(root, { recursive: true, mode: modes.folder });
      refuseOthers(root);
      mkdirSync(join(root, ownFolder), { recursive: true, mode: modes.folder });
      return new TargetFolder(root, place);
    });
  }

  /** Whether an earlier run's result is still there; only the size is compared. */
  holds({ path, bytes }: DecryptedObject): boolean {
    return isThere(this.#root, path, bytes);
  }

  /** Whether `path` is the usual path of the key. */
  isPlain(key: string, path: string): boolean {
    const own = pathParts(key.slice(this.#base.length)).join('/');
    return path === own || (path.endsWith('/') && path === own.slice(0, -'%2F'.length));
  }

  /** Writes the whole plaintext and syncs it to disk. @throws errors of `chunks` and of the disk */
  async write(chunks: AsyncIterable<Buffer>): Promise<Unplaced> {
    const path = join(this.#root, ownFolder, 'parts', String(++this.#written));
    const file = await open(path, 'wx', modes.file);
    let bytes = 0;
    try {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        for (let at = 0; at < chunk.length; )
          at += (await file.write(chunk, at, chunk.length - at)).bytesWritten;
      }
      await file.sync();
    } catch (error) {
      rmSync(path, { force: true });
      throw error;
    } finally {
      await file.close();
    }
    return { path, bytes };
  }

  /**
   * Moves a plaintext to its final name, which nothing else has, and syncs the folder. Synchronous, so that no other
   * object can interfere.
   * @param earlier path of the object's earlier state, which is replaced
   * @returns the path relative to the folder
   */
  place(key: string, written: Unplaced, earlier: string | undefined): string {
    try {
      const parts = pathParts(key.slice(this.#base.length));
      const marker = written.bytes === 0 && parts.at(-1) === '%2F';
      if (marker) return [...this.#folder(parts.slice(0, -1)), ''].join('/');
      const folder = this.#folder(parts.slice(0, -1));
      const name = this.#nameFor(folder, parts.at(-1) as string, key, written, earlier);
      const path = [...folder, name].join('/');
      renameSync(written.path, join(this.#root, path));
      syncFolder(dirname(join(this.#root, path)));
      return path;
    } finally {
      rmSync(written.path, { force: true });
    }
  }

  close(whole: boolean): void {
    this.journal.close(whole);
    rmSync(join(this.#root, ownFolder, 'parts'), { recursive: true, force: true });
    rmSync(this.#lock, { force: true });
  }

  /**
   * Creates the folders, under another name where a file has the same one. Links are not followed, as they may lead
   * outside.
   */
  #folder(parts: readonly string[]): string[] {
    const made: string[] = [];
    for (const part of parts) {
      const name = [part, folderBeside(part)].find((one) => makeFolder(join(this.#root, ...made, one)));
      if (name === undefined) throw new NameTaken([...made, part].join('/'));
      made.push(name);
    }
    return made;
  }

  #nameFor(
    folder: readonly string[],
    name: string,
    key: string,
    written: Unplaced,
    earlier: string | undefined,
  ): string {
    for (const one of [name, secondName(name, key)]) {
      const path = [...folder, one].join('/');
      const found = lookAt(join(this.#root, path));
      if (found === undefined) return one;
      if (found.isFile() && (path === earlier || sameContent(join(this.#root, path), found, written)))
        return one;
    }
    throw new NameTaken([...folder, name].join('/'));
  }
}

/** Journal of earlier runs, for a run that writes nothing; undefined if there is none. */
export function openJournal(
  root: string,
  place: Place,
): { journal: Journal; holds(entry: DecryptedObject): boolean } | undefined {
  const own = join(root, ownFolder);
  if (lookAt(own) === undefined) return undefined;
  return inFolder(root, () => ({
    journal: Journal.open(own, place, false),
    holds: ({ path, bytes }) => isThere(root, path, bytes),
  }));
}

function isThere(root: string, path: string, bytes: number): boolean {
  const found = lookAt(join(root, path));
  return path.endsWith('/')
    ? found?.isDirectory() === true
    : found?.isFile() === true && found.size === bytes;
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** @returns whether `path` is a folder now */
function makeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: modes.folder });
    syncFolder(dirname(path));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return lookAt(path)?.isDirectory() === true;
  }
}

/** Errors of file systems that cannot sync folders. */
const cannotSync = new Set(['EINVAL', 'ENOTSUP', 'EISDIR', 'EPERM']);

function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } catch (error) {
    if (!cannotSync.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    closeSync(folder);
  }
}

const compareBytes = 256 * 1024;

/** A run that was killed between rename and journal entry left exactly this content. */
function sameContent(path: string, found: Stats, written: Unplaced): boolean {
  if (found.size !== written.bytes) return false;
  const files = [openSync(path, 'r'), openSync(written.path, 'r')] as const;
  const [one, other] = [Buffer.alloc(compareBytes), Buffer.alloc(compareBytes)];
  try {
    for (;;) {
      const length = readSync(files[0], one, 0, compareBytes, null);
      if (readSync(files[1], other, 0, compareBytes, null) !== length) return false;
      if (!one.subarray(0, length).equals(other.subarray(0, length))) return false;
      if (length === 0) return true;
    }
  } finally {
    for (const file of files) closeSync(file);
  }
}

function refuseOthers(root: string): void {
  const names = readdirSync(root, { withFileTypes: true });
  // a link of that name could make us delete files elsewhere
  if (names.length === 0 || names.some((entry) => entry.name === ownFolder && entry.isDirectory())) return;
  throw new SvcError('DECRYPT_FOLDER', `${root} holds other files`, {
    nextStep: 'Name a folder with --to that is empty, does not exist yet, or is from an earlier run.',
    exitStatus: exitStatus.config,
  });
}

/** @throws SvcError DECRYPT_FOLDER while the process named in the lock file is alive */
function takeLock(path: string): void {
  for (const last of [false, true]) {
    try {
      return writeFileSync(path, String(process.pid), { flag: 'wx', mode: modes.file });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const owner = Number(readFileSync(path, 'utf8'));
      if (last || isAlive(owner)) throw inUse(path, owner);
      rmSync(path, { force: true });
    }
  }
}

const inUse = (path: string, owner: number) =>
  new SvcError('DECRYPT_FOLDER', `Process ${owner} is decrypting into this folder`, {
    nextStep: `Wait until it has ended; if it is another program by now, remove ${path}.`,
    exitStatus: exitStatus.config,
  });

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Turns file system errors into SvcErrors while the folder is being prepared. */
function inFolder<T>(root: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof SvcError || code === undefined) throw error;
    throw folderFailure(root, error);
  }
}
