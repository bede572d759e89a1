import {
  currentGeneration,
  type Generation,
  indexRecords,
  isOutdated,
  loadWord,
  type ValueRange,
} from '../core/secret-records/region-layout.ts';

/** Reads a region whose writer may put another generation in force at any moment. */
export class RegionReader {
  readonly #region: Uint8Array;
  #generation: Generation;
  #index: Map<string, ValueRange>;

  constructor(region: Uint8Array) {
    this.#region = region;
    [this.#generation, this.#index] = readIndex(region);
  }

  keys(): string[] {
    return [...this.#current().keys()];
  }

  has(key: string): boolean {
    return this.#current().has(key);
  }

  /** The value's bytes in place. */
  view(key: string): Uint8Array | undefined {
    const range = this.#current().get(key);
    return range && this.#region.subarray(range.start, range.end);
  }

  text(key: string): string | undefined {
    for (;;) {
      const view = this.view(key);
      if (!view) return undefined;
      // A decoder looks twice at its input, which must not change meanwhile.
      const copy = Buffer.from(view);
      const text = isOutdated(this.#region, this.#generation) ? undefined : copy.toString('utf8');
      copy.fill(0);
      if (text !== undefined) return text;
    }
  }

  #current(): Map<string, ValueRange> {
    if (loadWord(this.#region) !== this.#generation.word) {
      [this.#generation, this.#index] = readIndex(this.#region);
    }
    return this.#index;
  }
}

function readIndex(region: Uint8Array): [Generation, Map<string, ValueRange>] {
  for (;;) {
    const generation = currentGeneration(region);
    const index = indexRecords(region, generation);
    if (!isOutdated(region, generation)) return [generation, index];
  }
}
