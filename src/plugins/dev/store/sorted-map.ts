/** Values by key in the order of S3's listings: UTF-8 bytes. */
export class SortedMap<T> {
  readonly #values = new Map<string, T>();
  readonly #keys: string[] = [];

  get size(): number {
    return this.#keys.length;
  }

  get(key: string): T | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: T): void {
    if (!this.#values.has(key)) this.#keys.splice(this.#position(key), 0, key);
    this.#values.set(key, value);
  }

  delete(key: string): void {
    if (this.#values.delete(key)) this.#keys.splice(this.#position(key), 1);
  }

  /** Entries whose key is `key` or comes after it. */
  *from(key: string): Generator<[key: string, value: T]> {
    for (let at = this.#position(key); at < this.#keys.length; at++) {
      const name = this.#keys[at] as string;
      yield [name, this.#values.get(name) as T];
    }
  }

  #position(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeys(this.#keys[middle] as string, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Negative, 0 or positive, as the UTF-8 bytes compare. */
export function compareKeys(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const difference = rank(left.charCodeAt(at)) - rank(right.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** UTF-16 has surrogates below U+E000, UTF-8 has what they stand for above U+FFFF. */
function rank(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800;
  return unit >= 0xd800 ? unit + 0x2000 : unit;
}
