import { type ItemResults, type TransitCalls, VaultError } from '../../src/keyserver/contract.ts';
import type { ItemResult, TransitInput } from '../../src/keyserver/transit-messages.ts';

/** A call that waits for its answer. */
export interface FakeCall {
  readonly texts: readonly string[];
  readonly signal: AbortSignal | undefined;
  /** Answers as the server would: each item's text as its value, and a refusal for each that begins with `bad`. */
  answer(): void;
  fail(error: unknown): void;
}

export const inputsOf = (...texts: string[]): TransitInput[] => texts.map((ciphertext) => ({ ciphertext }));

/**
 * Calls that a test answers. More items than `limit` are too large. An item that begins with `poison` makes a whole
 * call fail, as no answer of the server says which one it is.
 */
export class FakeCalls implements TransitCalls<Buffer> {
  readonly path = 'transit/decrypt/svc';
  readonly limit: number;
  most = 200;
  /** All that were made, in order. */
  readonly made: FakeCall[] = [];
  readonly inFlight = new Set<FakeCall>();
  /** Every value that an answer held. */
  readonly values: Buffer[] = [];

  constructor(limit = Number.POSITIVE_INFINITY) {
    this.limit = limit;
  }

  /** Texts of the calls made so far. */
  get sent(): (readonly string[])[] {
    return this.made.map(({ texts }) => texts);
  }

  call(inputs: readonly TransitInput[], signal: AbortSignal | undefined) {
    const texts = inputs.map((input) => ('ciphertext' in input ? input.ciphertext : ''));
    const { promise, resolve, reject } = Promise.withResolvers<ItemResults<Buffer> | 'too large'>();
    const end = <T>(settle: (given: T) => void, given: T) => {
      this.inFlight.delete(call);
      settle(given);
    };
    const fail = (error: unknown) => end(reject, error);
    const answer = () => {
      if (texts.length > 1 && texts.length > this.limit) {
        this.most = Math.min(this.most, Math.floor(texts.length / 2));
        return end(resolve, 'too large' as const);
      }
      if (texts.some((text) => text.startsWith('poison'))) return fail(wholeRefusal());
      return end(resolve, this.#results(texts));
    };
    const call: FakeCall = { texts, signal, answer, fail };
    signal?.addEventListener('abort', () => fail(signal.reason));
    this.made.push(call);
    this.inFlight.add(call);
    return promise;
  }

  discard(value: Buffer): void {
    value.fill(0);
  }

  /** Answers everything that is in flight, and what it lets through. */
  async finish(): Promise<void> {
    for (await turn(); this.inFlight.size > 0; await turn())
      for (const call of [...this.inFlight]) call.answer();
  }

  #results(texts: readonly string[]): ItemResults<Buffer> {
    const results = texts.map((text): ItemResult<Buffer> => {
      if (text.startsWith('bad')) return { error: `${text} is refused` };
      const value = Buffer.from(text);
      this.values.push(value);
      return { value };
    });
    return { status: results.some((result) => 'error' in result) ? 400 : 200, results };
  }
}

export const wholeRefusal = () => new VaultError('rejected', 'The key server refuses everything');

/** After everything that is due by now. */
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
