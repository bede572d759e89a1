import type { Blobs, BlobWriter } from './blobs.ts';
import type { BlobRef } from './model.ts';

/** Counts who uses a blob, objects and answers in progress, and removes it after the last. */
export class SharedBlobs {
  readonly #blobs: Blobs;
  readonly #users = new Map<string, number>();

  constructor(blobs: Blobs) {
    this.#blobs = blobs;
  }

  create(): Promise<BlobWriter> {
    return this.#blobs.create();
  }

  retain(content: readonly BlobRef[]): void {
    for (const { id } of content) this.#users.set(id, (this.#users.get(id) ?? 0) + 1);
  }

  release(content: readonly BlobRef[]): void {
    for (const { id } of content) {
      const left = (this.#users.get(id) ?? 0) - 1;
      if (left > 0) this.#users.set(id, left);
      else this.#drop(id);
    }
  }

  /** Bytes from `start` up to, not including, `end` of the blobs one after the other; they stay until all is read. */
  async *read(content: readonly BlobRef[], start: number, end: number): AsyncGenerator<Buffer> {
    this.retain(content);
    try {
      let at = 0;
      for (const { id, size } of content) {
        const from = Math.max(0, start - at);
        const to = Math.min(size, end - at);
        if (from < to) yield* this.#blobs.read(id, from, to);
        at += size;
      }
    } finally {
      this.release(content);
    }
  }

  /** Once, when everything that was kept has been retained. */
  removeOthers(): void {
    this.#blobs.keepOnly(new Set(this.#users.keys()));
  }

  #drop(id: string): void {
    this.#users.delete(id);
    this.#blobs.remove(id);
  }
}
