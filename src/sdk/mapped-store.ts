import { RegionReader } from './region-reader.ts';
import type { Store } from './store.ts';

export interface MappedRegion {
  readonly bytes: Uint8Array;
  /** Repeat calls are harmless; buffers over the memory are empty afterwards. */
  unmap(): void;
}

/** A store over mapped secret memory, open until it is closed. */
export class MappedStore implements Store {
  readonly #mapping: MappedRegion;
  readonly #environment: Environment;
  #reader: RegionReader | undefined;

  constructor(mapping: MappedRegion, environment: Environment) {
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

export type Environment = Readonly<Record<string, string | undefined>>;

/** '' for a variable that is not set, and for what process.env inherits from Object. */
export function variableOf(environment: Environment, key: string): string {
  const value: unknown = environment[key];
  return typeof value === 'string' ? value : '';
}

/** The value, unless it is empty. */
export function required(key: string, value: string): string {
  if (value === '') throw new Error(`svc-sdk: secret "${key}" not found`);
  return value;
}
