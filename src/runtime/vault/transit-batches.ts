import { namesTooLarge, serverErrors } from '../../core/vault/answer.ts';
import { transitBody, transitResults } from '../../core/vault/transit-body.ts';
import type { ExchangingVaultClient } from './client.ts';
import type { VaultRequest, VaultResponse } from './contract.ts';
import { VaultError } from './errors.ts';
import { failureKind, failureOf, plainText, serverReason } from './failure.ts';

type Input = Readonly<Record<string, string>>;

/** OpenBao refuses a request with more than some 1,000 strings: 249 items with associated data pass, 250 do not. */
const mostItems = 200;

/** One operation of the transit engine on any number of items: one as a plain call, more as `batch_input`. */
export class TransitBatches {
  readonly #client: Pick<ExchangingVaultClient, 'exchange'>;
  readonly #path: string;
  readonly #field: string;
  #most = mostItems;

  /** `field` is what an item's result is called in the answer. */
  constructor(client: Pick<ExchangingVaultClient, 'exchange'>, path: string, field: string) {
    this.#client = client;
    this.#path = path;
    this.#field = field;
  }

  /**
   * Calls `take` with each result, in order.
   * @throws VaultError; with `index` where one item is the cause, and then nothing of its batch was taken
   */
  async run<T>(
    items: readonly T[],
    input: (item: T) => Input,
    take: (value: string, index: number) => void,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for (let from = 0; from < items.length; ) {
      const batch = items.slice(from, from + this.#most);
      const values = await this.#send(batch.map(input), from, signal);
      if (values === 'too large') continue;
      for (const [position, value] of values.entries()) take(value, from + position);
      from += batch.length;
    }
  }

  async #send(inputs: readonly Input[], from: number, signal: AbortSignal | undefined) {
    const request: VaultRequest = {
      method: 'POST',
      path: this.#path,
      body: transitBody(inputs),
      ...(signal === undefined ? {} : { signal }),
    };
    const response = await this.#client.exchange(request);
    if (inputs.length > 1 && namesTooLarge(response.status, serverErrors(response.body))) {
      this.#most = Math.min(this.#most, Math.floor(inputs.length / 2));
      return 'too large';
    }
    return this.#values(request, response, inputs.length, from);
  }

  #values(request: VaultRequest, response: VaultResponse, count: number, from: number): string[] {
    const { status, body } = response;
    const results = transitResults(body, this.#field, count);
    if (results === undefined) throw this.#noResults(request, response, count, from);
    return results.map((result, position) => {
      if ('value' in result) return result.value;
      throw this.#badItem(status, plainText(result.error), from + position);
    });
  }

  #noResults(request: VaultRequest, response: VaultResponse, count: number, from: number): VaultError {
    const { status, body } = response;
    if (status === 400 && count === 1) return this.#badItem(status, serverReason(body), from);
    if (status >= 300) return failureOf(request, response);
    const message = `The key server answered ${this.#path} as no transit engine does`;
    return new VaultError('rejected', message, { status, path: this.#path });
  }

  #badItem(status: number, reason: string, index: number): VaultError {
    const message = `The key server refuses item ${index} at ${this.#path}: ${reason}`;
    return new VaultError(failureKind(status, reason), message, { status, path: this.#path, index });
  }
}
