/** Rings at the earliest of the times that it was asked for, but not before it may. */
export class Alarm {
  #due = Number.POSITIVE_INFINITY;
  #earliest = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #ring: ((rang: boolean) => void) | undefined;
  #stopped = false;

  /** Rings after `ms` at the latest. */
  within(ms: number): void {
    const due = performance.now() + ms;
    if (due >= this.#due) return;
    this.#due = due;
    this.#arm();
  }

  /** Does not ring for `ms`. */
  notBefore(ms: number): void {
    this.#earliest = performance.now() + ms;
    this.#arm();
  }

  /** Waits for the next ring; false when it was stopped. */
  rings(): Promise<boolean> {
    if (this.#stopped) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#ring = resolve;
      this.#arm();
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#settle(false);
  }

  #arm(): void {
    if (this.#ring === undefined) return;
    clearTimeout(this.#timer);
    const at = Math.max(this.#due, this.#earliest);
    if (!Number.isFinite(at)) return;
    this.#timer = setTimeout(() => this.#settle(true), Math.max(0, at - performance.now()));
  }

  #settle(rang: boolean): void {
    clearTimeout(this.#timer);
    this.#due = Number.POSITIVE_INFINITY;
    this.#ring?.(rang);
    this.#ring = undefined;
  }
}
