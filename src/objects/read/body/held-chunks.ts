import { release } from '../../../runtime/memory.ts';

/**
 * Smaller chunks are merged: a store may send a body byte by byte, and each chunk has an overhead of hundreds of bytes.
 */
const looseFrom = 16 * 1024;
const blockBytes = 64 * 1024;
/** For merged chunks; a body that arrives in several chunks is rarely much smaller. */
const smallestBlock = 4 * 1024;

/** A queue of chunks. */
export class HeldChunks {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #block: Buffer | undefined;
  #filled = 0;

  /** Takes ownership of `chunk` and keeps `wanted`, all or a part of it. */
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

  /** Hands the first chunk to the caller if at least `left` bytes remain after it. */
  shift(left = 0): Buffer | undefined {
    if (this.#chunks.length === 0 && left === 0) this.#seal();
    const [first] = this.#chunks;
    if (first === undefined || this.#bytes - first.length < left) return undefined;
    this.#chunks.shift();
    this.#bytes -= first.length;
    return first;
  }

  /** Releases everything; safe at any time. */
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

/** The first `length` bytes in a buffer of exactly that size. */
const shrunk = (block: Buffer, length: number): Buffer =>
  Buffer.from((block.buffer as ArrayBuffer).transfer(length));
