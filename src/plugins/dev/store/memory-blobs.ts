import { randomBytes } from 'node:crypto';
import { formatByteSize } from '../../../core/byte-size.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import type { Blobs, BlobWriter } from './blobs.ts';

/** Bodies in memory, all together within a bound in bytes. */
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
