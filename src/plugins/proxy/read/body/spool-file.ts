import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes on disk that may be given up for others. */
export interface Evictable {
  /** @returns when its room on disk is free; undefined where nothing is left to evict. */
  evictOne(): Promise<void> | undefined;
}

/** A stretch of the disk bound; given back once. */
export interface Space {
  release(): void;
  /** Gives up what is idle where the disk is full before the bound is reached. @returns false when nothing is left to evict */
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

  /** @returns undefined when `bytes` cannot be had even after giving up what is idle. */
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

/** The disk cannot take the ciphertext; the caller chooses another way. */
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

/** Ciphertext on disk in a file without a name. */
export class SpoolFile {
  readonly #handle: FileHandle;
  readonly #space: Space;
  #length = 0;
  #closed = false;

  private constructor(handle: FileHandle, space: Space) {
    this.#handle = handle;
    this.#space = space;
  }

  /** Takes charge of `space`. @throws SpoolUnavailable */
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

  /** @throws SpoolUnavailable when the disk is full. */
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

  /** Fills `buffer` from `offset` on. @returns the bytes read, fewer only at the end. */
  async read(buffer: Buffer, offset: number): Promise<number> {
    const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, offset);
    return bytesRead;
  }

  /** @returns when the disk has its room back */
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
