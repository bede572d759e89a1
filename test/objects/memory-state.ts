import type { StateObject } from '../../src/objects/state/listings.ts';
import type { Admit, DelayedRemovals, PutWhen, StateStore } from '../../src/objects/state/state-store.ts';

export const noRemovals = { add: () => undefined, close: () => undefined } as unknown as DelayedRemovals;

/** A state store in memory: small pages, so that paging is part of every test. */
export class MemoryState implements StateStore {
  readonly objects = new Map<string, string>();
  readonly #pageSize: number;

  constructor(pageSize = 3) {
    this.#pageSize = pageSize;
  }

  async put(bucket: string, key: string, body: string | Buffer, when?: PutWhen): Promise<void> {
    if (when === 'if-absent' && this.objects.has(`${bucket}/${key}`)) return;
    this.objects.set(`${bucket}/${key}`, String(body));
  }

  async get(bucket: string, key: string): Promise<string | undefined> {
    return this.objects.get(`${bucket}/${key}`);
  }

  async read(bucket: string, key: string, _limit: number, admit: Admit): Promise<Buffer | undefined> {
    const text = await this.get(bucket, key);
    if (text === undefined) return undefined;
    admit(text.length);
    return Buffer.from(text);
  }

  async *list(bucket: string, prefix: string, after = ''): AsyncIterable<readonly StateObject[]> {
    const start = `${bucket}/${prefix}`;
    const keys = [...this.objects.keys()]
      .filter((key) => key.startsWith(start) && key > `${bucket}/${after}`)
      .sort();
    for (let index = 0; index < keys.length; index += this.#pageSize)
      yield keys
        .slice(index, index + this.#pageSize)
        .map((key) => ({ key: key.slice(bucket.length + 1), lastModified: undefined }));
  }

  async delete(bucket: string, keys: readonly string[]): Promise<void> {
    for (const key of keys) this.objects.delete(`${bucket}/${key}`);
  }

  close(): void {}
}
