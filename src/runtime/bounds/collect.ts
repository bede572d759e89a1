const smallestBlock = 4 * 1024;

/**
 * Bytes in one growing block. Senders may cut a body into single bytes, and a Buffer for each takes a hundred times as
 * much memory.
 */
export class CollectedBytes {
  #block: ArrayBuffer;
  #size = 0;

  /** @param expected bytes, if known: the block then never grows */
  constructor(expected = 0) {
    this.#block = new ArrayBuffer(expected);
  }

  get size(): number {
    return this.#size;
  }

  /** Copies the piece. */
  add(piece: Uint8Array): void {
    const size = this.#size + piece.length;
    if (size > this.#block.byteLength)
      this.#block = this.#block.transfer(Math.max(smallestBlock, size, 2 * this.#block.byteLength));
    new Uint8Array(this.#block).set(piece, this.#size);
    this.#size = size;
  }

  /** All bytes in a buffer of exactly their size; called once. */
  take(): Buffer {
    return Buffer.from(this.#block.transfer(this.#size));
  }

  /** Frees the memory. */
  discard(): void {
    this.#block.transfer(0);
  }
}

/**
 * Reads a whole body into one buffer.
 * @param max bytes
 * @param tooLong makes the error for a longer body
 * @param free called with each chunk once it was copied or is not needed, if the caller owns them
 * @param expected bytes, if known
 * @returns a new buffer
 */
export async function collect(
  body: AsyncIterable<Buffer>,
  max: number,
  tooLong: () => Error,
  free: (chunk: Buffer) => void = () => undefined,
  expected?: number,
): Promise<Buffer> {
  const collected = new CollectedBytes(expected);
  try {
    for await (const chunk of body) {
      const fits = collected.size + chunk.length <= max;
      if (fits) collected.add(chunk);
      free(chunk);
      if (!fits) throw tooLong();
    }
  } catch (error) {
    collected.discard();
    throw error;
  }
  return collected.take();
}
