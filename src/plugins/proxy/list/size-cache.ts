/** Plaintext sizes that are known, by what names a stored body; the least recently used go first. */
export class SizeCache {
  readonly #sizes = new Map<string, number>();
  readonly #maxBytes: number;
  #bytes = 0;

  /** `maxBytes`: memory for all entries, about. */
  constructor(maxBytes = 4 * 1024 * 1024) {
    this.#maxBytes = maxBytes;
  }

  get(id: string): number | undefined {
    const size = this.#sizes.get(id);
    if (size === undefined) return undefined;
    this.#sizes.delete(id);
    this.#sizes.set(id, size);
    return size;
  }

  set(id: string, size: number): void {
    if (!this.#sizes.has(id)) this.#bytes += cost(id);
    this.#sizes.set(id, size);
    for (const oldest of this.#sizes.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#sizes.delete(oldest);
      this.#bytes -= cost(oldest);
    }
  }
}

/** Two bytes a character at most, and the entry in the map. */
const cost = (id: string): number => id.length * 2 + 72;
