import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** Lines as they come, kept until somebody asks: an unread stream would hold the process open. */
export class LineQueue {
  readonly #lines: string[] = [];
  readonly #waiting: ((line: string | undefined) => void)[] = [];
  #ended = false;

  constructor(stream: Readable) {
    createInterface({ input: stream })
      .on('line', (line) => this.#give(line))
      .on('close', () => this.#end());
  }

  /** Undefined after the last one. */
  next(): Promise<string | undefined> {
    const line = this.#lines.shift();
    if (line !== undefined || this.#ended) return Promise.resolve(line);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #give(line: string): void {
    const waiting = this.#waiting.shift();
    if (waiting) waiting(line);
    else this.#lines.push(line);
  }

  #end(): void {
    this.#ended = true;
    for (const waiting of this.#waiting.splice(0)) waiting(undefined);
  }
}
