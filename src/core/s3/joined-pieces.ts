/** Pieces that wait at most to be joined. */
const mostLoose = 256;

/**
 * A body that is collected whole. Callers may cut it into single bytes, and each slice costs a hundred times
 * that and keeps the block that it was cut from, so loose pieces are copied together on the way.
 */
export class JoinedPieces {
  readonly #joined: Buffer[] = [];
  #loose: Buffer[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(piece: Buffer): void {
    this.#size += piece.length;
    this.#loose.push(piece);
    if (this.#loose.length === mostLoose) this.#join();
  }

  whole(): Buffer {
    return Buffer.concat([...this.#joined, ...this.#loose], this.#size);
  }

  #join(): void {
    this.#joined.push(Buffer.concat(this.#loose));
    this.#loose = [];
  }
}
