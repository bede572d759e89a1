import { randomBytes } from 'node:crypto';
import { createReadStream, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isRecord } from '../../keyserver/answers.ts';
import { vaultPath } from '../../keyserver/path.ts';
import { exitStatus, SvcError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { type KeyServer, startKeyServer } from './keys/key-server.ts';
import {
  type Administered,
  type Administrator,
  asAdministrator,
  exampleSecrets,
  type SecretsSource,
  setUpSecrets,
} from './keys/set-up.ts';
import { keyFile, noKeyFile } from './keys/transit-keys.ts';
import { type Blobs, type BlobWriter, MemoryBlobs, SharedBlobs } from './store/blobs.ts';
import { Catalog, fileRecords, noRecords } from './store/catalog.ts';
import { type ObjectStore, startObjectStore } from './store/object-store.ts';

/** The two servers that a proxy needs; a wrapper needs the key server only. */
export interface Servers {
  readonly keyServer: KeyServer;
  readonly store: ObjectStore;
  /** May update the two transit paths of the key `svc` and nothing else. */
  readonly proxyToken: string;
  /** Random examples. */
  readonly secrets: SecretsSource;
  /** Absolute path; undefined: everything is in memory. */
  readonly dataFolder: string | undefined;
  close(): Promise<void>;
}

/** Starts key server and object store, and sets up transit and secrets. @throws SvcError, VaultError */
export async function startServers(dataFolder: string | undefined, log: Logger): Promise<Servers> {
  const folder = dataFolder === undefined ? undefined : takeDataFolder(dataFolder);
  const started: { close(): Promise<void> }[] = [];
  const close = async () => {
    await Promise.all(started.map((server) => server.close()));
    folder?.release();
  };
  try {
    const keyServer = await startKeyServer(folder ? keyFile(folder.keyFile) : noKeyFile, log);
    started.push(keyServer);
    const { url, rootToken } = keyServer;
    const proxyToken = await setUpTransit({ url, rootToken, mount: 'transit', keyName: 'svc' });
    const secrets = await setUpExamples(keyServer);
    const store = await startObjectStore(catalogOf(folder), log);
    started.push(store);
    return { keyServer, store, proxyToken, secrets, dataFolder: folder?.path, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const catalogOf = (folder: DataFolder | undefined) =>
  folder ? folderCatalog(folder.storeFolder) : memoryCatalog();

async function setUpExamples({ url, rootToken }: KeyServer): Promise<SecretsSource> {
  const secrets = exampleSecrets();
  const tokens = await setUpSecrets({ url, rootToken, secrets });
  return { keyServer: url, secrets, tokens };
}

/** Bodies kept in memory, all together. Bytes. */
const memoryBound = 1024 ** 3;

/** In memory; `bound` in bytes. */
export function memoryCatalog(bound = memoryBound): Catalog {
  return new Catalog(noRecords, new SharedBlobs(new MemoryBlobs(bound)));
}

/** In this folder, created if missing. @throws SvcError DEV_STORE */
export function folderCatalog(folder: string): Catalog {
  const [records, blobs] = [join(folder, 'records'), join(folder, 'blobs')] as const;
  for (const path of [records, blobs]) mkdirSync(path, { recursive: true, mode: 0o700 });
  return new Catalog(fileRecords(records), new SharedBlobs(new FileBlobs(blobs)));
}

export interface SetUp extends Administered {
  readonly mount: string;
  readonly keyName: string;
}

/**
 * An administrator's one-time set-up: mounts transit, creates the key, and issues a token that may update the two
 * transit paths and nothing else. May be repeated.
 * @returns the token
 * @throws VaultError
 */
export function setUpTransit({ mount, keyName, ...server }: SetUp): Promise<string> {
  return asAdministrator(server, async ({ ask, issueToken }) => {
    if (!(await isMounted(ask, mount)))
      await ask({ method: 'POST', path: `sys/mounts/${vaultPath(mount)}`, body: { type: 'transit' } });
    await ask({ method: 'POST', path: vaultPath(mount, 'keys', keyName), body: {} });
    const paths = ['encrypt', 'decrypt'].map((operation) => vaultPath(mount, operation, keyName));
    const policy = Object.fromEntries(paths.map((path) => [path, ['update']]));
    return issueToken({ name: `svc-proxy-${keyName}`, policy });
  });
}

async function isMounted(ask: Administrator['ask'], mount: string): Promise<boolean> {
  const body = await ask({ method: 'GET', path: 'sys/mounts' });
  const data = isRecord(body) ? body['data'] : undefined;
  return isRecord(data) && `${mount}/` in data;
}

/** Names of files that this class writes; other files in the folder are left alone. */
const own = /^([0-9a-f]{32})(\.part)?$/;

/** Bodies as files with random names in an existing folder. */
class FileBlobs implements Blobs {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async create(): Promise<BlobWriter> {
    const id = randomBytes(16).toString('hex');
    const draft = this.#path(`${id}.part`);
    const file = await open(draft, 'wx', 0o600);
    let size = 0;
    return {
      write: async (chunk) => {
        size += chunk.length;
        await file.writeFile(chunk);
      },
      commit: async () => {
        await file.sync();
        await file.close();
        await rename(draft, this.#path(id));
        return { id, size };
      },
      discard: async () => {
        await file.close();
        await rm(draft, { force: true });
      },
    };
  }

  read(id: string, start: number, end: number): AsyncIterable<Buffer> {
    return createReadStream(this.#path(id), { start, end: end - 1, highWaterMark: 256 * 1024 });
  }

  remove(id: string): void {
    rmSync(this.#path(id), { force: true });
  }

  keepOnly(ids: ReadonlySet<string>): void {
    for (const name of readdirSync(this.#folder)) {
      const match = own.exec(name);
      if (match?.[1] && (match[2] || !ids.has(match[1]))) rmSync(this.#path(name), { force: true });
    }
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}

/** A folder in which one `svc dev` at a time keeps keys and objects. */
interface DataFolder {
  readonly path: string;
  readonly keyFile: string;
  readonly storeFolder: string;
  /** Unlocks the folder. */
  release(): void;
}

/** Creates the folder if it is missing, and locks it. @throws SvcError DEV_DATA */
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
