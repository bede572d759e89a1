const shown = 10;

/** What a soak run did, and what went wrong. */
export class Tally {
  readonly done = new Map<string, number>();
  /** The first few, for people. */
  readonly examples: string[] = [];
  errors = 0;
  /** Requests that failed while something was broken on purpose. */
  disturbed = 0;
  differences = 0;
  bytes = 0;

  count(operation: string): void {
    this.done.set(operation, (this.done.get(operation) ?? 0) + 1);
  }

  /** A request failed that should not have. */
  failed(operation: string, key: string, error: unknown): void {
    this.errors += 1;
    this.#example(
      `${operation} ${key}: ${error instanceof Error ? `${error.name}: ${error.message}` : error}`,
    );
  }

  /** An answer was not what had been written. */
  differs(operation: string, key: string, how: string): void {
    this.differences += 1;
    this.#example(`${operation} ${key}: ${how}`);
  }

  #example(text: string): void {
    if (this.examples.length < shown) this.examples.push(text);
  }
}
