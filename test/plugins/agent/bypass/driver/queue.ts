/** Values as they come, kept until somebody asks. */
export class Queue<T> {
  readonly #values: T[] = [];
  readonly #waiting: ((value: T | undefined) => void)[] = [];
  #ended = false;

  push(value: T): void {
    const waiting = this.#waiting.shift();
    if (waiting) waiting(value);
    else this.#values.push(value);
  }

  end(): void {
    this.#ended = true;
    for (const waiting of this.#waiting.splice(0)) waiting(undefined);
  }

  /** Undefined after the last one. */
  next(): Promise<T | undefined> {
    const value = this.#values.shift();
    if (value !== undefined || this.#ended) return Promise.resolve(value);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
