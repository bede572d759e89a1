/** Memory that is zeroed when it is given up. */
export interface ByteBlock {
  /** Bytes, at least as many as were asked for. */
  readonly length: number;
  /** In place. @throws TypeError after `release` */
  readonly bytes: Buffer;
  /** Zeroes it. Repeat calls are harmless. */
  release(): void;
}

export interface ByteMemory {
  allocate(length: number): ByteBlock;
}

const smallest = 4096;
const largestKept = 64 * 1024;
const mostKept = 32;

/**
 * Blocks outside V8's heap, used again and again, for what holds keys for the time of a call. Unlike secret memory
 * they cost no system call, and may be swapped out.
 */
export function createWipedMemory(): ByteMemory {
  const kept = new Map<number, Buffer[]>();
  const give = (bytes: Buffer) => {
    const free = kept.get(bytes.length) ?? [];
    if (bytes.length > largestKept || free.length >= mostKept) return;
    free.push(bytes);
    kept.set(bytes.length, free);
  };
  return {
    allocate(length) {
      const size = 2 ** Math.ceil(Math.log2(Math.max(length, smallest)));
      return new WipedBlock(kept.get(size)?.pop() ?? ownBuffer(size), give);
    },
  };
}

/**
 * Zeroed memory that is not moved: arrays of up to 64 bytes that Node allocates by itself lie in V8's heap, whose
 * collector leaves copies behind.
 */
export const ownBuffer = (length: number): Buffer => Buffer.from(new ArrayBuffer(length));

class WipedBlock implements ByteBlock {
  readonly length: number;
  readonly #give: (bytes: Buffer) => void;
  #bytes: Buffer | undefined;

  constructor(bytes: Buffer, give: (bytes: Buffer) => void) {
    this.length = bytes.length;
    this.#bytes = bytes;
    this.#give = give;
  }

  get bytes(): Buffer {
    if (this.#bytes === undefined) throw new TypeError('The memory was given up');
    return this.#bytes;
  }

  release(): void {
    const bytes = this.#bytes;
    if (bytes === undefined) return;
    this.#bytes = undefined;
    this.#give(bytes.fill(0));
  }
}
