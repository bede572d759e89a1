import { release } from '../../runtime/memory.ts';
import { memoryCosts } from '../held-memory.ts';
import { type Space, SpoolFile, type SpoolSpace, SpoolUnavailable } from '../read/body/spool.ts';
import { s3Error } from '../s3/error.ts';

/** Disk space is reserved in steps of this many bytes, because the length is not known. */
const stepBytes = 8 * 1024 * 1024;
const readBytes = 256 * 1024;

/**
 * Ciphertext of unknown length: in memory while small, then in an unlinked file. It is collected in one block, since
 * callers may send a body byte by byte. The caller holds memory for the block.
 */
export class CiphertextSpool {
  readonly #folder: string;
  readonly #space: SpoolSpace;
  readonly #block = Buffer.allocUnsafeSlow(memoryCosts.spool);
  #filled = 0;
  #spaces: Space[] = [];
  #reserved = 0;
  #file: SpoolFile | undefined;
  #length = 0;

  constructor(folder: string, space: SpoolSpace) {
    this.#folder = folder;
    this.#space = space;
  }

  get length(): number {
    return this.#length;
  }

  /** Copies the piece. @throws S3Error 503 `SlowDown` if the disk is full */
  async append(piece: Buffer): Promise<void> {
    this.#length += piece.length;
    for (let from = 0; from < piece.length; ) {
      if (this.#filled === this.#block.length) await this.#flush();
      const copied = piece.copy(this.#block, this.#filled, from);
      this.#filled += copied;
      from += copied;
    }
  }

  /** The whole ciphertext, until `close`; undefined if it is on disk. */
  inMemory(): Buffer | undefined {
    return this.#file ? undefined : this.#block.subarray(0, this.#filled);
  }

  async *read(): AsyncGenerator<Buffer> {
    await this.#flush();
    for (let offset = 0; offset < this.#length; ) {
      const buffer = Buffer.allocUnsafe(Math.min(readBytes, this.#length - offset));
      const count = (await this.#file?.read(buffer, offset)) ?? 0;
      if (count === 0) throw new RangeError('the spool has lost bytes');
      offset += count;
      yield buffer.subarray(0, count);
    }
  }

  close(): void {
    if (this.#file) {
      this.#file.close();
      release(this.#block);
    } else this.#release();
  }

  async #flush(): Promise<void> {
    try {
      this.#reserve();
      this.#file ??= await SpoolFile.create(this.#folder, {
        release: () => this.#release(),
        makeRoom: () => this.#space.makeRoom(),
      });
      await this.#file.append(this.#block.subarray(0, this.#filled));
      this.#filled = 0;
    } catch (cause) {
      if (!(cause instanceof SpoolUnavailable)) throw cause;
      throw s3Error(
        'SlowDown',
        'There is no room to hold a body of unknown length. Send its length, or retry.',
        { cause },
      );
    }
  }

  #reserve(): void {
    while (this.#reserved < this.#length) {
      const space = this.#space.reserve(stepBytes);
      if (!space) throw new SpoolUnavailable('spool: no room for a body of unknown length');
      this.#spaces.push(space);
      this.#reserved += stepBytes;
    }
  }

  #release(): void {
    for (const space of this.#spaces) space.release();
    this.#spaces = [];
  }
}

/** Plaintext bytes up to which a body is verified in memory before the store gets it. */
export const smallBytes = 64 * 1024;
