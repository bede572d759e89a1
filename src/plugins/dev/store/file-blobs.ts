import { randomBytes } from 'node:crypto';
import { createReadStream, readdirSync, rmSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Blobs, BlobWriter } from './blobs.ts';

/** What this class writes, and nothing else that may lie there. */
const own = /^([0-9a-f]{32})(\.part)?$/;

/** Bodies as files of random names in a folder that is there. */
export class FileBlobs implements Blobs {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async create(): Promise<BlobWriter> {
    const id = randomBytes(16).toString('hex');
    const draft = this.#path(`${id}.part`);
    const file = await open(draft, 'wx', 0o600);
    let size = 0;
    return {
      write: async (chunk) => {
        size += chunk.length;
        await file.writeFile(chunk);
      },
      commit: async () => {
        await file.sync();
        await file.close();
        await rename(draft, this.#path(id));
        return { id, size };
      },
      discard: async () => {
        await file.close();
        await rm(draft, { force: true });
      },
    };
  }

  read(id: string, start: number, end: number): AsyncIterable<Buffer> {
    return createReadStream(this.#path(id), { start, end: end - 1, highWaterMark: 256 * 1024 });
  }

  remove(id: string): void {
    rmSync(this.#path(id), { force: true });
  }

  keepOnly(ids: ReadonlySet<string>): void {
    for (const name of readdirSync(this.#folder)) {
      const match = own.exec(name);
      if (match?.[1] && (match[2] || !ids.has(match[1]))) rmSync(this.#path(name), { force: true });
    }
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}
