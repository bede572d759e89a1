import { type BlockPool, blockBytes } from './block-pool.ts';
import type { Hold } from './verify-budget.ts';

/** Plaintext up to this size stays in the chunks that the cipher gave. */
const copyFrom = 64 * 1024;

/** What holding that much plaintext takes of the budget: half as much again for the buffers that the cipher leaves behind. */
export const chargeFor = (bytes: number): number => Math.ceil(bytes * 1.5);

/** Plaintext that waits for its verification, in pooled blocks and within a hold on the budget. */
export class HeldPlaintext {
  readonly #hold: Hold;
  readonly #pool: BlockPool | undefined;
  #chunks: Buffer[] = [];
  #last: Buffer | undefined;
  #filled = 0;

  constructor(hold: Hold, pool: BlockPool, bytes: number) {
    this.#hold = hold;
    this.#pool = bytes > copyFrom ? pool : undefined;
  }

  add(chunk: Buffer): void {
    if (this.#pool === undefined) this.#chunks.push(chunk);
    else this.#copy(chunk, this.#pool);
  }

  /** What was added, in order; a chunk's memory is given back when the next one is asked for. */
  *drain(): Generator<Buffer, void> {
    this.#seal();
    for (let chunk = this.#chunks[0]; chunk !== undefined; chunk = this.#chunks[0]) {
      yield chunk;
      this.#chunks.shift();
      this.#give(chunk);
      this.#hold.release(chargeFor(chunk.length));
    }
  }

  /** Gives everything back; safe at any time. */
  discard(): void {
    this.#seal();
    for (const chunk of this.#chunks) this.#give(chunk);
    this.#chunks = [];
    this.#hold.releaseAll();
  }

  #copy(chunk: Buffer, pool: BlockPool): void {
    for (let from = 0; from < chunk.length; ) {
      this.#last ??= pool.take();
      const copied = chunk.copy(this.#last, this.#filled, from);
      from += copied;
      this.#filled += copied;
      if (this.#filled === blockBytes) this.#seal();
    }
  }

  #seal(): void {
    if (this.#last !== undefined) this.#chunks.push(this.#last.subarray(0, this.#filled));
    this.#last = undefined;
    this.#filled = 0;
  }

  #give(chunk: Buffer): void {
    this.#pool?.give(Buffer.from(chunk.buffer, 0, blockBytes));
  }
}
