import { createHash } from 'node:crypto';

/** Pseudo-random choices that follow from a name alone, so that a case can be repeated. */
export class Choices {
  readonly #state: Uint32Array;

  constructor(name: string) {
    const digest = createHash('sha256').update(name).digest();
    this.#state = new Uint32Array(4);
    for (let at = 0; at < 4; at++) this.#state[at] = digest.readUInt32LE(at * 4);
  }

  /** 0 to below 1 (sfc32). */
  fraction(): number {
    const state = this.#state;
    const [a = 0, b = 0, c = 0, d = 0] = state;
    const sum = (a + b + d) | 0;
    state[3] = d + 1;
    state[0] = b ^ (b >>> 9);
    state[1] = (c + (c << 3)) | 0;
    state[2] = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to below `bound`. */
  below(bound: number): number {
    return Math.floor(this.fraction() * bound);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** One of them. @throws RangeError where there is none */
  pick<T>(values: readonly T[]): T {
    if (values.length === 0) throw new RangeError('there is nothing to choose from');
    return values[this.below(values.length)] as T;
  }

  /** One of them, as often as its weight says. */
  weighted<T>(choices: readonly (readonly [weight: number, value: T])[]): T {
    let left = this.fraction() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of choices) {
      left -= weight;
      if (left < 0) return value;
    }
    throw new RangeError('there is nothing to choose from');
  }
}
