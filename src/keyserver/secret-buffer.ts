import type { ByteBlock, ByteMemory } from '../runtime/memory.ts';
import type { ByteSink } from '../runtime/net/http1-chunked-body.ts';

const smallest = 4096;

/** Bytes in secret or wiped memory, which grow by moving to a larger region; the former one is zeroed. */
export class SecretBuffer implements ByteSink {
  readonly #memory: ByteMemory;
  #region: ByteBlock | undefined;
  #length = 0;

  constructor(memory: ByteMemory) {
    this.#memory = memory;
  }

  get bytes(): Buffer {
    return this.#region?.bytes.subarray(0, this.#length) ?? Buffer.alloc(0);
  }

  append(bytes: Uint8Array): void {
    this.#roomFor(this.#length + bytes.length).bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  reserve(length: number): void {
    this.#roomFor(length);
  }

  /** Lets `read` append to the free room and return the number of bytes, without another copy. */
  appendFrom(read: (into: Buffer) => number): number {
    const region = this.#roomFor(this.#length + 1);
    const count = read(region.bytes.subarray(this.#length));
    this.#length += count;
    return count;
  }

  clear(): void {
    this.#region?.bytes.fill(0, 0, this.#length);
    this.#length = 0;
  }

  release(): void {
    this.#region?.release();
    this.#region = undefined;
    this.#length = 0;
  }

  #roomFor(length: number): ByteBlock {
    const former = this.#region;
    if (former !== undefined && former.length >= length) return former;
    const region = this.#memory.allocate(Math.max(length, smallest, (former?.length ?? 0) * 2));
    region.bytes.set(this.bytes);
    former?.release();
    this.#region = region;
    return region;
  }
}
