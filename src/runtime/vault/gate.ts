import { within } from '../lifecycle/within.ts';
import { VaultError } from './errors.ts';

/** Lets so many through at a time; the others wait in order. */
export class Gate {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(places: number) {
    this.#free = places;
  }

  /**
   * Settles at once where there is room. Every success needs one `leave`.
   * @throws VaultError of kind `unavailable` at the deadline; the signal's reason when aborted
   */
  async enter(deadline: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    try {
      await within(promise, deadline, signal, tooBusy);
    } catch (error) {
      // Its turn may have come in the same instant: then the place goes on to the next.
      if (!this.#waiting.delete(resolve)) this.leave();
      throw error;
    }
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

const tooBusy = (): VaultError =>
  new VaultError('unavailable', 'Too many requests to the key server wait for their turn', {
    nextStep: 'Find out why the key server is slow, or spread the load.',
  });
