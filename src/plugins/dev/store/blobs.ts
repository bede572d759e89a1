import { randomBytes } from 'node:crypto';
import { s3Error } from '../../../objects/s3/error.ts';
import { formatByteSize } from '../../../runtime/units.ts';
import type { BlobRef } from './object.ts';

/** Writes one body, which cannot be read before `commit`. */
export interface BlobWriter {
  /** @throws S3Error if there is no room */
  write(chunk: Buffer): Promise<void>;
  commit(): Promise<BlobRef>;
  discard(): Promise<void>;
}

/** Where bodies are kept. */
export interface Blobs {
  create(): Promise<BlobWriter>;
  /** Bytes from `start` up to, not including, `end`. */
  read(id: string, start: number, end: number): AsyncIterable<Buffer>;
  remove(id: string): void;
  /** At start: removes unreferenced bodies of earlier runs. */
  keepOnly(ids: ReadonlySet<string>): void;
}

/** Bodies in memory, with a bound on their total bytes. */
export class MemoryBlobs implements Blobs {
  readonly #bound: number;
  readonly #blobs = new Map<string, readonly Buffer[]>();
  #used = 0;

  constructor(bound: number) {
    this.#bound = bound;
  }

  async create(): Promise<BlobWriter> {
    const chunks: Buffer[] = [];
    let size = 0;
    return {
      write: async (chunk) => {
        this.#take(chunk.length);
        size += chunk.length;
        chunks.push(Buffer.from(chunk));
      },
      commit: async () => {
        const id = randomBytes(16).toString('hex');
        this.#blobs.set(id, chunks);
        return { id, size };
      },
      discard: async () => {
        this.#used -= size;
      },
    };
  }

  async *read(id: string, start: number, end: number): AsyncGenerator<Buffer> {
    let at = 0;
    for (const chunk of this.#blobs.get(id) ?? []) {
      const slice = chunk.subarray(Math.max(0, start - at), Math.max(0, end - at));
      at += chunk.length;
      if (slice.length > 0) yield slice;
    }
  }

  remove(id: string): void {
    for (const { length } of this.#blobs.get(id) ?? []) this.#used -= length;
    this.#blobs.delete(id);
  }

  keepOnly(): void {}

  #take(bytes: number): void {
    if (this.#used + bytes > this.#bound) throw full(this.#bound);
    this.#used += bytes;
  }
}

const full = (bound: number) =>
  s3Error(
    'EntityTooLarge',
    `The development store keeps at most ${formatByteSize(bound)} in memory. Delete objects, or start svc dev with --data.`,
  );

/** Counts references of objects and responses to a blob, and removes it after the last one. */
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

  /** Bytes from `start` up to, not including, `end` of the concatenated blobs, which are kept until all is read. */
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

  /** To be called once everything stored has been retained. */
  removeOthers(): void {
    this.#blobs.keepOnly(new Set(this.#users.keys()));
  }

  #drop(id: string): void {
    this.#users.delete(id);
    this.#blobs.remove(id);
  }
}
