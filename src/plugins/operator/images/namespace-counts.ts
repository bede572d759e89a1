/** How many of a limited number each namespace has. */
export class NamespaceCounts {
  readonly #counts = new Map<string, number>();
  #sum = 0;

  /** Of all namespaces. */
  get sum(): number {
    return this.#sum;
  }

  of(namespace: string): number {
    return this.#counts.get(namespace) ?? 0;
  }

  add(namespace: string, by: 1 | -1): void {
    const count = this.of(namespace) + by;
    this.#sum += by;
    if (count === 0) this.#counts.delete(namespace);
    else this.#counts.set(namespace, count);
  }
}
