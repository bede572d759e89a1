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

  /**
   * Whether a namespace may have one more of `max`. A quarter is kept for those that have none; of the rest, one that has
   * some gets at most as many as are left free. So two that take their most leave ten of 24, for ten others.
   */
  mayAdd(namespace: string, max: number): boolean {
    const held = this.of(namespace);
    const free = max - this.#sum;
    return held === 0 ? free > 0 : held < free - Math.floor(max / 4);
  }

  add(namespace: string, by: 1 | -1): void {
    const count = this.of(namespace) + by;
    this.#sum += by;
    if (count === 0) this.#counts.delete(namespace);
    else this.#counts.set(namespace, count);
  }
}
