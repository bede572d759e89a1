/** Bytes on disk that may be given up for others. */
export interface Evictable {
  /** @returns false when nothing is left to give up. */
  evictOne(): boolean;
}

/** A stretch of the disk bound; given back once. */
export interface Space {
  release(): void;
}

/** Bounds the bytes that the spool keeps on disk. */
export class SpoolSpace {
  readonly #limit: number;
  #used = 0;
  #idle: Evictable | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  evictFrom(idle: Evictable): void {
    this.#idle = idle;
  }

  /** @returns undefined when `bytes` cannot be had even after giving up what is idle. */
  reserve(bytes: number): Space | undefined {
    if (bytes > this.#limit) return undefined;
    while (this.#used + bytes > this.#limit) if (!this.#idle?.evictOne()) return undefined;
    this.#used += bytes;
    let held = true;
    return {
      release: () => {
        if (held) this.#used -= bytes;
        held = false;
      },
    };
  }
}
