export const blockBytes = 256 * 1024;

/**
 * Blocks that are used again, so that verifying large bodies leaves little for
 * the garbage collector. Blocks are filled with zeros before they are kept.
 */
export class BlockPool {
  readonly #free: Buffer[] = [];
  readonly #kept: number;

  /** `kept`: bytes of free blocks that stay allocated. */
  constructor(kept: number) {
    this.#kept = Math.floor(kept / blockBytes);
  }

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(blockBytes);
  }

  give(block: Buffer): void {
    block.fill(0);
    if (this.#free.length < this.#kept) this.#free.push(block);
  }
}
