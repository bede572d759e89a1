import { release } from '../../../../runtime/memory.ts';

/** Smaller chunks are copied together: a store may send a body byte by byte, and each chunk costs as much as hundreds. */
const looseFrom = 16 * 1024;
const blockBytes = 64 * 1024;
/** Of the copied chunks: a body that comes in more than one of them is seldom much smaller. */
const smallestBlock = 4 * 1024;

/** Chunks that wait, in order. */
export class HeldChunks {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #block: Buffer | undefined;
  #filled = 0;

  /** Takes `chunk`, to keep `wanted`, which is all or a part of it. */
  add(chunk: Buffer, wanted: Buffer): void {
    this.#bytes += wanted.length;
    if (wanted.length >= looseFrom && wanted.length === chunk.length) {
      this.#seal();
      this.#chunks.push(chunk);
      return;
    }
    this.#copy(wanted);
    release(chunk);
  }

  /** The first one, now its caller's, where at least `left` bytes stay without it. */
  shift(left = 0): Buffer | undefined {
    if (this.#chunks.length === 0 && left === 0) this.#seal();
    const [first] = this.#chunks;
    if (first === undefined || this.#bytes - first.length < left) return undefined;
    this.#chunks.shift();
    this.#bytes -= first.length;
    return first;
  }

  /** Gives everything back; safe at any time. */
  discard(): void {
    this.#seal();
    for (const chunk of this.#chunks) release(chunk);
    this.#chunks = [];
    this.#bytes = 0;
  }

  #copy(bytes: Buffer): void {
    for (let from = 0; from < bytes.length; ) {
      this.#block ??= Buffer.allocUnsafeSlow(
        Math.min(blockBytes, Math.max(bytes.length - from, smallestBlock)),
      );
      const copied = bytes.copy(this.#block, this.#filled, from);
      from += copied;
      this.#filled += copied;
      if (this.#filled === this.#block.length) this.#seal();
    }
  }

  #seal(): void {
    const block = this.#block;
    if (block === undefined) return;
    this.#block = undefined;
    this.#chunks.push(this.#filled === block.length ? block : shrunk(block, this.#filled));
    this.#filled = 0;
  }
}

/** The first `length` bytes in memory of their own size. */
const shrunk = (block: Buffer, length: number): Buffer =>
  Buffer.from((block.buffer as ArrayBuffer).transfer(length));
