import {
  type ItemResult,
  namesTooLarge,
  type ReadValue,
  readTransitAnswer,
  serverErrors,
  type TransitAnswer,
  type TransitInput,
  transitBody,
} from '../../core/vault/transit-messages.ts';
import type { ExchangingVaultClient } from './client.ts';
import {
  type ByteExchange,
  failureOf,
  type KeyRequest,
  serverReason,
  VaultError,
  type VaultResponse,
} from './contract.ts';

/** Calls of one operation of the transit engine: one item goes as a plain call, more as `batch_input`. */
export function transitCalls<V>(
  client: Pick<ExchangingVaultClient, 'exchange'>,
  path: string,
  field: TransitField<V>,
): TransitCalls<V> {
  return new PlainCalls(client, path, field);
}

export interface TransitCalls<V> {
  /** Path below `/v1/`. */
  readonly path: string;
  /** Items of one call. It shrinks where the server takes fewer. */
  readonly most: number;
  /**
   * Answers a value or a refusal for each item, in order, or `too large` where `most` has shrunk and smaller calls may
   * be taken. Whoever called has to use or to discard all values.
   * @throws VaultError where nothing came of any item; the signal's reason when aborted
   */
  call(
    inputs: readonly TransitInput[],
    signal: AbortSignal | undefined,
  ): Promise<ItemResults<V> | 'too large'>;
  discard(value: V): void;
}

export interface ItemResults<V> {
  /** HTTP status of the answer: a batch with a bad item is answered by 400. */
  readonly status: number;
  readonly results: readonly ItemResult<V>[];
}

/** What one operation of the transit engine answers for an item. */
export interface TransitField<V> {
  readonly name: string;
  readonly read: ReadValue<V>;
  /** Told of each value that was read and is not handed over. */
  readonly discard: (value: V) => void;
}

/** OpenBao refuses a request with more than 1,000 strings: 166 items with associated data pass, 167 do not. */
const mostItems = 160;

class PlainCalls<V> implements TransitCalls<V> {
  readonly path: string;
  readonly #client: Pick<ExchangingVaultClient, 'exchange'>;
  readonly #field: TransitField<V>;
  #most = mostItems;
  /** References used so far: no two lists of this process share one. */
  #referencesUsed = 0;

  constructor(client: Pick<ExchangingVaultClient, 'exchange'>, path: string, field: TransitField<V>) {
    this.#client = client;
    this.path = path;
    this.#field = field;
  }

  get most(): number {
    return this.#most;
  }

  discard(value: V): void {
    this.#field.discard(value);
  }

  async call(inputs: readonly TransitInput[], signal: AbortSignal | undefined) {
    const bytes = this.#exchange(inputs);
    const call: KeyRequest = { method: 'POST', path: this.path, bytes };
    const request = signal === undefined ? call : { ...call, signal };
    try {
      const response = await this.#client.exchange(request);
      if (inputs.length > 1 && namesTooLarge(response.status, serverErrors(response.body))) {
        this.#most = Math.min(this.#most, Math.floor(inputs.length / 2));
        return 'too large' as const;
      }
      return this.#results(request, response, inputs.length);
    } finally {
      bytes.body.fill(0);
    }
  }

  /** A batch with a bad item is answered by 400, and still carries what came of the others. */
  #exchange(inputs: readonly TransitInput[]): ByteExchange {
    const { name, read, discard } = this.#field;
    const reference = this.#referencesUsed;
    if (inputs.length > 1) this.#referencesUsed += inputs.length;
    return {
      body: transitBody(inputs, reference),
      read: (status, answer) => {
        const count = status === 200 || (status === 400 && inputs.length > 1) ? inputs.length : 0;
        return readTransitAnswer(answer, name, count, read, discard, reference);
      },
    };
  }

  #results(request: KeyRequest, response: VaultResponse, count: number): ItemResults<V> {
    const { status, body } = response;
    const results = (body as TransitAnswer<V> | undefined)?.results;
    if (results === 'misplaced') throw misplaced(this.path, status);
    if (results?.length === count) return { status, results };
    if (status === 400 && count === 1) return { status, results: [{ error: serverReason(body) }] };
    if (status >= 300) throw failureOf(request, response);
    const message = `The key server answered ${this.path} as no transit engine does`;
    throw new VaultError('rejected', message, { status, path: this.path });
  }
}

/** No item is the cause, so nobody asks again for each alone. */
const misplaced = (path: string, status: number): VaultError =>
  new VaultError('unavailable', `The key server answered ${path} with the results of other items`, {
    ...{ path, status },
    nextStep: 'Check the key server, and what answers in its place: nothing of this answer was used.',
  });
