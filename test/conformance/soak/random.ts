import { createHash } from 'node:crypto';

/** Pseudo-random choices that follow from a name, so that a run can be repeated. */
export class Random {
  readonly #name: string;
  #count = 0;

  constructor(name: string) {
    this.#name = name;
  }

  /** 0 to below 1. */
  fraction(): number {
    const digest = createHash('sha256')
      .update(`${this.#name} ${this.#count++}`)
      .digest();
    return digest.readUIntBE(0, 6) / 2 ** 48;
  }

  /** A whole number from 0 to below `bound`. */
  below(bound: number): number {
    return Math.floor(this.fraction() * bound);
  }

  /** One of them, as often as its weight says. */
  weighted<T>(choices: readonly { readonly weight: number; readonly value: T }[]): T {
    let left = this.fraction() * choices.reduce((sum, { weight }) => sum + weight, 0);
    for (const { weight, value } of choices) {
      left -= weight;
      if (left < 0) return value;
    }
    throw new RangeError('there is nothing to choose from');
  }
}
