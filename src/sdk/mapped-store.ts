import {
  currentGeneration,
  type Generation,
  indexRecords,
  isOutdated,
  loadWord,
  type ValueRange,
} from '../runtime/protocols/secret-records/region-layout.ts';
import type { Store } from './store.ts';

export interface MappedRegion {
  readonly bytes: Uint8Array;
  /** May be called repeatedly; buffers over the memory are empty afterwards. */
  unmap(): void;
}

/** A store over mapped secret memory. */
export class MappedStore implements Store {
  readonly #mapping: MappedRegion;
  readonly #environment: ProcessEnvironment;
  #reader: RegionReader | undefined;

  constructor(mapping: MappedRegion, environment: ProcessEnvironment) {
    this.#mapping = mapping;
    this.#environment = environment;
    this.#reader = new RegionReader(mapping.bytes);
  }

  get state(): Store['state'] {
    return this.#reader ? 'open' : 'closed';
  }

  get(key: string): string {
    if (!this.#reader) return '';
    return this.#reader.text(key) ?? variableOf(this.#environment, key);
  }

  mustGet(key: string): string {
    return required(key, this.get(key));
  }

  has(key: string): boolean {
    return this.#reader?.has(key) ?? false;
  }

  keys(): string[] | undefined {
    return this.#reader?.keys();
  }

  view(key: string): Uint8Array | undefined {
    return this.#reader?.view(key);
  }

  close(): void {
    this.#reader = undefined;
    this.#mapping.unmap();
  }
}

/** Reads a region whose writer may switch to another generation at any moment. */
class RegionReader {
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

  /** A view of the value's bytes. */
  view(key: string): Uint8Array | undefined {
    const range = this.#current().get(key);
    return range && this.#region.subarray(range.start, range.end);
  }

  text(key: string): string | undefined {
    for (;;) {
      const view = this.view(key);
      if (!view) return undefined;
      // Copied, because a decoder reads its input twice and the input must not change in between.
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

export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** '' for a variable that is not set, and for members that process.env inherits from Object. */
export function variableOf(environment: ProcessEnvironment, key: string): string {
  const value: unknown = environment[key];
  return typeof value === 'string' ? value : '';
}

/** The value. @throws Error if it is empty */
export function required(key: string, value: string): string {
  if (value === '') throw new Error(`svc-sdk: secret "${key}" not found`);
  return value;
}
