/** Requests that are begun before all other work gets its turn: their signatures take a millisecond and more each. */
const begunInTurn = 16;

/** Begins requests a few in each turn of the event loop, in order. Those that wait are as many as connections allow. */
export class Turns {
  #left = begunInTurn;
  #isDue = false;
  readonly #waiting: (() => void)[] = [];

  take(begin: () => void): void {
    this.#waiting.push(begin);
    if (!this.#isDue) setImmediate(() => this.#renew());
    this.#isDue = true;
    this.#begin();
  }

  #renew(): void {
    this.#left = begunInTurn;
    this.#isDue = this.#waiting.length > 0;
    if (this.#isDue) setImmediate(() => this.#renew());
    this.#begin();
  }

  #begin(): void {
    for (const begin of this.#waiting.splice(0, this.#left)) {
      this.#left--;
      begin();
    }
  }
}
