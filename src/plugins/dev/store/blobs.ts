import type { BlobRef } from './model.ts';

/** Takes one body; nothing of it can be read before `commit`. */
export interface BlobWriter {
  /** @throws S3Error when there is no room */
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
  /** Once at the start: removes what earlier runs left and nothing refers to. */
  keepOnly(ids: ReadonlySet<string>): void;
}
