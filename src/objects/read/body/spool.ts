import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Fills the file; `signal` is aborted when no reader waits for it any more. */
export type FillSpool = (file: SpoolFile, signal: AbortSignal) => Promise<SpooledBody>;

/** A spooled body that stays on disk until `release`. */
export interface SpoolLease {
  readonly body: SpooledBody;
  release(): void;
}

export interface SpoolOptions {
  readonly folder: string;
  /** Bound on bytes on disk, possibly shared with other spools. */
  readonly space: SpoolSpace;
  /** Milliseconds that a body stays after its last use. */
  readonly life?: number;
}

interface Entry {
  readonly id: string;
  readonly filled: Promise<SpooledBody>;
  readonly stop: AbortController;
  users: number;
  body: SpooledBody | undefined;
  expiry: NodeJS.Timeout | undefined;
}

const defaultLife = 60_000;
/** Each body holds a file descriptor. */
const maxBodies = 256;

/** Verified ciphertext on disk, fetched once for all readers of slices of the same stored body. */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #space: SpoolSpace;
  /** In order of last use, the oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#space = options.space;
    this.#space.evictFrom({ evictOne: () => this.#evictOne() });
  }

  get used(): number {
    return this.#space.used;
  }

  /** A file for a single reader. @throws SpoolUnavailable */
  async file(bytes: number): Promise<SpoolFile> {
    const space = this.#space.reserve(bytes);
    if (space === undefined) throw new SpoolUnavailable(`spool: no room for ${bytes} bytes`);
    return SpoolFile.create(this.#options.folder, space);
  }

  /**
   * Leases the spooled body `id`, filled by the first caller. Resolves once it is complete and verified.
   * @throws SpoolUnavailable and errors of `fill`, to every waiting caller
   */
  async lease(id: string, bytes: number, fill: FillSpool, signal: AbortSignal): Promise<SpoolLease> {
    const entry = this.#entries.get(id) ?? this.#add(id, bytes, fill);
    this.#use(entry);
    try {
      const body = await settledOrAborted(entry.filled, signal);
      return { body, release: once(() => this.#leave(entry)) };
    } catch (error) {
      this.#leave(entry);
      throw error;
    }
  }

  /** The body `id` if it is complete and verified on disk; use it before the next await. */
  find(id: string): SpooledBody | undefined {
    return this.#entries.get(id)?.body;
  }

  close(): void {
    for (const entry of [...this.#entries.values()]) this.#drop(entry);
  }

  #add(id: string, bytes: number, fill: FillSpool): Entry {
    const stop = new AbortController();
    const entry: Entry = {
      id,
      stop,
      filled: this.#fill(bytes, fill, stop.signal),
      users: 0,
      body: undefined,
      expiry: undefined,
    };
    this.#entries.set(id, entry);
    entry.filled.then(
      (body) => this.#filled(entry, body),
      () => this.#forget(entry),
    );
    return entry;
  }

  #filled(entry: Entry, body: SpooledBody): void {
    entry.body = body;
    if (entry.users === 0) this.#drop(entry);
  }

  async #fill(bytes: number, fill: FillSpool, signal: AbortSignal): Promise<SpooledBody> {
    const file = await this.file(bytes);
    try {
      return await fill(file, signal);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  #use(entry: Entry): void {
    entry.users += 1;
    clearTimeout(entry.expiry);
    if (this.#entries.get(entry.id) !== entry) return;
    this.#entries.delete(entry.id);
    this.#entries.set(entry.id, entry);
  }

  #leave(entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0) return;
    if (entry.body === undefined || this.#entries.get(entry.id) !== entry) return void this.#drop(entry);
    entry.expiry = setTimeout(() => this.#drop(entry), this.#options.life ?? defaultLife);
    entry.expiry.unref();
    if (this.#entries.size > maxBodies) this.#evictOne();
  }

  #evictOne(): Promise<void> | undefined {
    const idle = [...this.#entries.values()].find(({ users }) => users === 0);
    return idle && this.#drop(idle);
  }

  /** Closes the file once nobody reads it any more. */
  async #drop(entry: Entry): Promise<void> {
    this.#forget(entry);
    clearTimeout(entry.expiry);
    if (entry.users > 0) return;
    if (entry.body === undefined) entry.stop.abort(new Error('nobody waits for this body any more'));
    else await entry.body.file.close();
  }

  #forget(entry: Entry): void {
    if (this.#entries.get(entry.id) === entry) this.#entries.delete(entry.id);
  }
}

function settledOrAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}

/** Ciphertext of a body on disk that was found authentic. */
export interface SpooledBody {
  readonly file: SpoolFile;
  readonly nonce: Buffer;
  /** Plaintext bytes, authenticated by the tag. */
  readonly size: number;
  /** Offset in the file; default 0. */
  readonly start?: number;
}

/** An owner of disk space that can evict idle files. */
export interface Evictable {
  /** @returns a promise that settles when the space is free; undefined if nothing is left to evict */
  evictOne(): Promise<void> | undefined;
}

/** A reservation of disk space; release it once. */
export interface Space {
  release(): void;
  /** Evicts idle files if the disk is full before the bound is reached. @returns false if nothing is left to evict */
  makeRoom(): Promise<boolean>;
}

/** Bounds the bytes that the spool keeps on disk. */
export class SpoolSpace {
  readonly #limit: number;
  #used = 0;
  #idle: Evictable | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  evictFrom(idle: Evictable): void {
    this.#idle = idle;
  }

  /** @returns undefined if `bytes` are not available even after evicting everything idle */
  reserve(bytes: number): Space | undefined {
    if (bytes > this.#limit) return undefined;
    while (this.#used + bytes > this.#limit) if (this.#idle?.evictOne() === undefined) return undefined;
    this.#used += bytes;
    let held = true;
    return {
      release: () => {
        if (held) this.#used -= bytes;
        held = false;
      },
      makeRoom: () => this.makeRoom(),
    };
  }

  async makeRoom(): Promise<boolean> {
    const evicted = this.#idle?.evictOne();
    await evicted;
    return evicted !== undefined;
  }
}

/** The disk cannot take the ciphertext; the caller falls back to something else. */
export class SpoolUnavailable extends Error {
  override readonly name = 'SpoolUnavailable';
}

const unavailableCodes = new Set([
  'ENOSPC',
  'EDQUOT',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOENT',
  'EMFILE',
  'ENFILE',
]);

/** Ciphertext on disk in an unlinked file. */
export class SpoolFile {
  readonly #handle: FileHandle;
  readonly #space: Space;
  #length = 0;
  #closed = false;

  private constructor(handle: FileHandle, space: Space) {
    this.#handle = handle;
    this.#space = space;
  }

  /** Takes ownership of `space`. @throws SpoolUnavailable */
  static async create(folder: string, space: Space): Promise<SpoolFile> {
    try {
      return new SpoolFile(await openUnnamed(folder), space);
    } catch (error) {
      space.release();
      throw translated(error);
    }
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** @throws SpoolUnavailable if the disk is full */
  async append(chunk: Uint8Array): Promise<void> {
    for (let from = 0; from < chunk.length; ) {
      try {
        const { bytesWritten } = await this.#handle.write(chunk, from, chunk.length - from, this.#length);
        from += bytesWritten;
        this.#length += bytesWritten;
      } catch (error) {
        if (!isFull(error) || !(await this.#space.makeRoom())) throw translated(error);
      }
    }
  }

  /** Fills `buffer` from `offset` of the file. @returns bytes read; fewer only at the end of the file */
  async read(buffer: Buffer, offset: number): Promise<number> {
    const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, offset);
    return bytesRead;
  }

  /** @returns a promise that settles when the disk space is free */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#space.release();
    await this.#handle.close().catch(() => undefined);
  }
}

async function openUnnamed(folder: string): Promise<FileHandle> {
  const path = join(folder, `.svc-spool-${randomBytes(16).toString('hex')}`);
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(path, flags, 0o600);
  try {
    await unlink(path);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const isFull = (error: unknown) => ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');

function translated(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return unavailableCodes.has(code) ? new SpoolUnavailable(`spool: ${code}`, { cause: error }) : error;
}
