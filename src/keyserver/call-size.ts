/** OpenBao refuses a request with more than 1,000 strings: 166 items with associated data pass, 167 do not. */
const usual = 160;

const firstPauseMs = 30_000;
const longestPauseMs = 3_600_000;

/**
 * How many items one call may have. It is halved when the server, or a load balancer before it, refuses a call as too
 * large, and doubled again after a pause, because that may have been one bad moment. Each attempt that is refused doubles
 * the pause, so that a server with a smaller limit is hardly asked.
 */
export class CallSize {
  readonly #now: () => number;
  #most = usual;
  #pauseMs = firstPauseMs;
  #raiseAt = 0;
  /** Whether the size was raised and no call of that size has been answered yet. */
  #isAttempt = false;

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number) {
    this.#now = now;
  }

  get most(): number {
    if (this.#most < usual && this.#now() >= this.#raiseAt) {
      this.#most = Math.min(usual, this.#most * 2);
      this.#raiseAt = this.#now() + this.#pauseMs;
      this.#isAttempt = true;
    }
    return this.#most;
  }

  accepted(count: number): void {
    if (!this.#isAttempt || count <= this.#most / 2) return;
    this.#isAttempt = false;
    this.#pauseMs = firstPauseMs;
  }

  /** @param count at least 2 */
  refused(count: number): void {
    if (this.#isAttempt) this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
    this.#isAttempt = false;
    this.#most = Math.min(this.#most, Math.floor(count / 2));
    this.#raiseAt = this.#now() + this.#pauseMs;
  }
}
