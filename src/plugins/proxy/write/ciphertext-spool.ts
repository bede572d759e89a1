import { s3Error } from '../../../core/s3/error.ts';
import { type Space, SpoolFile, type SpoolSpace, SpoolUnavailable } from '../read/body/spool.ts';

/** Disk space is reserved in steps of this many bytes, because the length is not known. */
const stepBytes = 8 * 1024 * 1024;
const readBytes = 256 * 1024;

/** Ciphertext of unknown length: in memory while small, then in an unlinked file. */
export class CiphertextSpool {
  readonly #folder: string;
  readonly #space: SpoolSpace;
  #spaces: Space[] = [];
  #reserved = 0;
  #pieces: Buffer[] = [];
  #file: SpoolFile | undefined;
  #length = 0;

  constructor(folder: string, space: SpoolSpace) {
    this.#folder = folder;
    this.#space = space;
  }

  get length(): number {
    return this.#length;
  }

  /** @throws S3Error 503 `SlowDown` if the disk is full */
  async append(piece: Buffer): Promise<void> {
    this.#length += piece.length;
    if (!this.#file && this.#length <= smallBytes) {
      this.#pieces.push(Buffer.from(piece));
      return;
    }
    try {
      await this.#toDisk([...this.#pieces, piece]);
    } catch (cause) {
      if (!(cause instanceof SpoolUnavailable)) throw cause;
      throw s3Error(
        'SlowDown',
        'There is no room to hold a body of unknown length. Send its length, or retry.',
        {
          cause,
        },
      );
    }
  }

  /** The whole ciphertext; undefined if it is on disk. */
  inMemory(): Buffer | undefined {
    return this.#file ? undefined : Buffer.concat(this.#pieces, this.#length);
  }

  async *read(): AsyncGenerator<Buffer> {
    for (let offset = 0; offset < this.#length; ) {
      const buffer = Buffer.allocUnsafe(Math.min(readBytes, this.#length - offset));
      const count = (await this.#file?.read(buffer, offset)) ?? 0;
      if (count === 0) throw new RangeError('the spool has lost bytes');
      offset += count;
      yield buffer.subarray(0, count);
    }
  }

  close(): void {
    if (this.#file) this.#file.close();
    else this.#release();
    this.#pieces = [];
  }

  async #toDisk(pieces: readonly Buffer[]): Promise<void> {
    this.#pieces = [];
    this.#reserve();
    this.#file ??= await SpoolFile.create(this.#folder, {
      release: () => this.#release(),
      makeRoom: () => this.#space.makeRoom(),
    });
    for (const piece of pieces) await this.#file.append(piece);
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
