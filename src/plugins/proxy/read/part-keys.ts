import type { PartEntry, PartList } from '../../../core/envelope/manifest.ts';
import type { DataKeys } from '../keys/data-keys.ts';
import type { TakeKey } from './body/sealed-body.ts';
import type { StoredObject } from './object-reader.ts';

/** Parts whose DEKs are unwrapped by one request to the key server. */
const window = 64;

/** The DEK of an object in one piece. */
export function singleKey(keys: DataKeys, object: StoredObject, signal: AbortSignal): TakeKey {
  return async () => {
    const { envelope } = object;
    if (envelope?.keys.form !== 'single') throw new TypeError('the object has no single key');
    const item = { wrapped: envelope.keys.dek, purpose: { kind: 'object' } } as const;
    const [key] = await keys.unwrap(object.name, envelope, [item], signal);
    return key as Buffer;
  };
}

/** DEKs of the parts that a read will need, unwrapped a window ahead, each given out once. */
export class PartKeys {
  readonly #keys: DataKeys;
  readonly #object: StoredObject;
  readonly #list: PartList;
  readonly #signal: AbortSignal;
  readonly #ahead: PartEntry[];
  readonly #unwrapped = new Map<number, Buffer>();
  #closed = false;

  constructor(
    keys: DataKeys,
    object: StoredObject,
    list: PartList,
    wanted: readonly PartEntry[],
    signal: AbortSignal,
  ) {
    this.#keys = keys;
    this.#object = object;
    this.#list = list;
    this.#signal = signal;
    this.#ahead = [...wanted];
  }

  /** Parts are to be asked for in the order of `wanted`. */
  of(part: PartEntry): TakeKey {
    return async () => {
      if (!this.#unwrapped.has(part.n)) await this.#advance();
      const key = this.#unwrapped.get(part.n);
      if (key === undefined) throw new TypeError(`part ${part.n} was not announced`);
      this.#unwrapped.delete(part.n);
      return key;
    };
  }

  /** Zeroes what was not taken. */
  close(): void {
    this.#closed = true;
    for (const key of this.#unwrapped.values()) key.fill(0);
    this.#unwrapped.clear();
  }

  async #advance(): Promise<void> {
    const parts = this.#ahead.splice(0, window);
    const upload = this.#list.manifest;
    const items = parts.map(({ n, dek }) => ({
      wrapped: dek,
      purpose: { kind: 'part', upload, number: n } as const,
    }));
    const { envelope, name } = this.#object;
    if (envelope === undefined) throw new TypeError('the object has no keys');
    const keys = await this.#keys.unwrap(name, envelope, items, this.#signal);
    if (this.#closed) {
      for (const key of keys) key.fill(0);
      return;
    }
    for (const [index, part] of parts.entries()) this.#unwrapped.set(part.n, keys[index] as Buffer);
  }
}
