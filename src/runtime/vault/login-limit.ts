const windowMs = 60_000;

/** At most so many events in any minute. */
export class MinuteLimit {
  readonly #most: number;
  #times: number[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Time in ms until `take` succeeds. */
  waitMs(now = performance.now()): number {
    this.#times = this.#times.filter((time) => time > now - windowMs);
    const oldest = this.#times[this.#times.length - this.#most];
    return oldest === undefined ? 0 : oldest + windowMs - now;
  }

  /** Counts one event where there is room. */
  take(now = performance.now()): boolean {
    if (this.waitMs(now) > 0) return false;
    this.#times.push(now);
    return true;
  }
}
