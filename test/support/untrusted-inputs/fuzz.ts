import fc from 'fast-check';
import { type Cost, measure } from './measure.ts';
import type { UntrustedInput } from './types.ts';

export interface FuzzOptions {
  /** For all inputs together. */
  readonly milliseconds: number;
  readonly seed?: number;
  /** Bytes that may be allocated for each byte of an input; 8 by default. */
  readonly heapPerByte?: number;
  /** CPU time that one input may take; `generousCpuMs` by default. */
  readonly cpuMs?: number;
}

/** What a busy machine allows as well, and nothing that takes the square of its input's length. */
const generousCpuMs = 2_000;
/** On a machine that does nothing else: `npm run conformance -- fuzz`. */
export const strictCpuMs = 250;

/** The input of a parser that took most. */
export interface WorstCost {
  readonly name: string;
  readonly runs: number;
  /** Bytes allocated for each byte of the input, beyond the constant. */
  readonly heapPerByte: number;
  readonly cpuMs: number;
}

const constantBytes = 256 * 1024;

/**
 * Sends each parser its worst inputs and as many others as there is time for.
 * @throws Error with the seed and the shortest input found that takes more than is allowed, or makes the parser fail
 */
export function fuzz(inputs: readonly UntrustedInput[], options: FuzzOptions): readonly WorstCost[] {
  return inputs.map((input) => {
    const judge = new Judge(input, options);
    judge.warmUp();
    for (const [name, make] of Object.entries(input.worst)) judge.judge(make(), name);
    const property = fc.property(input.arbitrary, (bytes) => judge.judge(bytes));
    fc.assert(property, {
      numRuns: Number.MAX_SAFE_INTEGER,
      interruptAfterTimeLimit: options.milliseconds / inputs.length,
      ...(options.seed !== undefined && { seed: options.seed }),
    });
    return judge.worst;
  });
}

/** A compilation of V8's, or another process, may fall into one measurement, and not into all of them. */
const attempts = 4;
const warmUpRuns = 60;

class Judge {
  readonly #input: UntrustedInput;
  readonly #options: FuzzOptions;
  #worst = { runs: 0, heapPerByte: 0, cpuMs: 0 };

  constructor(input: UntrustedInput, options: FuzzOptions) {
    this.#input = input;
    this.#options = options;
  }

  get worst(): WorstCost {
    return { name: this.#input.name, ...this.#worst };
  }

  /** Has V8 compile the parser, whose code is not the input's to pay for. */
  warmUp(): void {
    for (const bytes of fc.sample(this.#input.arbitrary, { numRuns: warmUpRuns, seed: 1 }))
      this.#parse(bytes);
  }

  judge(bytes: Buffer, name = 'an input'): void {
    const { constant = constantBytes } = this.#input;
    const { heapPerByte = this.#input.heapPerByte ?? 8, cpuMs = generousCpuMs } = this.#options;
    const isGood = (cost: Cost) =>
      cost.allocated <= constant + heapPerByte * bytes.length && cost.cpuMs <= cpuMs;
    let cost = this.#measure(bytes);
    for (let left = attempts - 1; left > 0 && !isGood(cost); left--) cost = this.#measure(bytes);
    this.#note(bytes, cost, constant);
    if (isGood(cost)) return;
    const took = `${cost.allocated} bytes of heap and ${cost.cpuMs} ms of CPU`;
    throw new Error(`${this.#input.name}: ${name} of ${bytes.length} bytes took ${took}`);
  }

  #note({ length }: Buffer, { allocated, cpuMs }: Cost, constant: number): void {
    this.#worst.runs++;
    this.#worst.heapPerByte = Math.max(this.#worst.heapPerByte, (allocated - constant) / Math.max(1, length));
    this.#worst.cpuMs = Math.max(this.#worst.cpuMs, cpuMs);
  }

  #measure(bytes: Buffer): Cost {
    return measure(() => this.#parse(bytes));
  }

  #parse(bytes: Buffer): unknown {
    try {
      return this.#input.parse(bytes);
    } catch (error) {
      if (this.#input.refuses(error)) return error;
      throw error;
    }
  }
}
