/** Places that nobody waits for: so many at a time, and of one namespace only some of them. */
export class Places {
  readonly #most: number;
  readonly #mostOfNamespace: number;
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(most: number, mostOfNamespace: number) {
    this.#most = most;
    this.#mostOfNamespace = mostOfNamespace;
  }

  /** @returns what gives the place back; else which of the bounds is reached */
  enter(namespace: string): (() => void) | 'full' | 'full of its namespace' {
    if (this.#all >= this.#most) return 'full';
    if ((this.#taken.get(namespace) ?? 0) >= this.#mostOfNamespace) return 'full of its namespace';
    this.#count(namespace, 1);
    let left = false;
    return () => {
      if (!left) this.#count(namespace, -1);
      left = true;
    };
  }

  #count(namespace: string, by: 1 | -1): void {
    const taken = (this.#taken.get(namespace) ?? 0) + by;
    this.#all += by;
    if (taken === 0) this.#taken.delete(namespace);
    else this.#taken.set(namespace, taken);
  }
}
