import { vaultPath } from '../../core/vault/path.ts';
import {
  namesTooLarge,
  parseWrappedKey,
  type ReadValue,
  readKey,
  readTransitAnswer,
  readWrapped,
  serverErrors,
  type TransitAnswer,
  type TransitInput,
  transitBody,
} from '../../core/vault/transit-messages.ts';
import type { ExchangingVaultClient } from './client.ts';
import {
  type ByteExchange,
  failureKind,
  failureOf,
  isVaultError,
  type KeyRequest,
  plainText,
  serverReason,
  type Transit,
  type TransitItem,
  VaultError,
  type VaultRequest,
  type VaultResponse,
  type WrapItem,
  type WrappedKey,
} from './contract.ts';

export interface TransitOptions {
  /** Mount of the transit engine, such as `transit`. */
  readonly mount: string;
  readonly keyName: string;
}

/**
 * Wraps and unwraps data keys. They are bytes on their way, in memory that is zeroed: no string is made of one.
 */
export function createTransit(
  client: Pick<ExchangingVaultClient, 'exchange'>,
  { mount, keyName }: TransitOptions,
): Transit {
  const encrypt = new TransitBatches(client, vaultPath(mount, 'encrypt', keyName), ciphertext);
  const decrypt = new TransitBatches(client, vaultPath(mount, 'decrypt', keyName), plaintext);
  return {
    keyName,
    wrap: (items, signal) => wrap(encrypt, items, signal),
    unwrap: (items, signal) => unwrap(decrypt, items, keyName, signal),
  };
}

const ciphertext: TransitField<string> = { name: 'ciphertext', read: readWrapped, discard: () => undefined };
const plaintext: TransitField<Buffer> = { name: 'plaintext', read: readKey, discard: (key) => key.fill(0) };

async function wrap(
  batches: TransitBatches<string>,
  items: readonly WrapItem[],
  signal: AbortSignal | undefined,
): Promise<WrappedKey[]> {
  const wrapped: WrappedKey[] = [];
  const take = (value: string, index: number) => wrapped.push(checkedWrap(value, index));
  const inputs = items.map(({ key, ...bound }) => ({ plaintext: key, ...bound }));
  await batches.run(inputs, take, signal);
  return wrapped;
}

function checkedWrap(ciphertext: string, index: number): WrappedKey {
  const parsed = parseWrappedKey(ciphertext);
  if (parsed !== undefined) return { ciphertext, keyVersion: parsed.keyVersion };
  throw new VaultError('rejected', 'The key server answered with what is no wrapped key', { index });
}

async function unwrap(
  batches: TransitBatches<Buffer>,
  items: readonly TransitItem[],
  keyName: string,
  signal: AbortSignal | undefined,
): Promise<Buffer[]> {
  const keys: Buffer[] = [];
  try {
    items.forEach(refuseMalformed);
    await batches.run(items, (key) => keys.push(key), signal);
    return keys;
  } catch (error) {
    for (const key of keys) key.fill(0);
    throw withVersion(error, items, keyName);
  }
}

function refuseMalformed({ ciphertext }: TransitItem, index: number): void {
  if (parseWrappedKey(ciphertext) !== undefined) return;
  throw new VaultError('rejected', `Item ${index} is no wrapped key of the form vault:v<version>:<base64>`, {
    index,
  });
}

/** Says which version is asked for, where that is the trouble: the policy cannot read what the key permits. */
function withVersion(error: unknown, items: readonly TransitItem[], keyName: string): unknown {
  if (!isVaultError(error) || error.kind !== 'expired-version') return error;
  const { path, status, index = 0 } = error;
  const version = parseWrappedKey(items[index]?.ciphertext ?? '')?.keyVersion;
  const message = `Version ${version} of transit key ${keyName} lies below its min_decryption_version (item ${index})`;
  return new VaultError('expired-version', message, {
    ...{ path, status, index, cause: error },
    nextStep: `Set min_decryption_version of ${keyName} to ${version} or less until nothing needs that version.`,
  });
}

/** What one operation of the transit engine answers for an item. */
interface TransitField<V> {
  readonly name: string;
  readonly read: ReadValue<V>;
  /** Told of each value that was read and is not handed over. */
  readonly discard: (value: V) => void;
}

/** OpenBao refuses a request with more than some 1,000 strings: 249 items with associated data pass, 250 do not. */
const mostItems = 200;

/** One operation of the transit engine on any number of items: one as a plain call, more as `batch_input`. */
class TransitBatches<V> {
  readonly #client: Pick<ExchangingVaultClient, 'exchange'>;
  readonly #path: string;
  readonly #field: TransitField<V>;
  #most = mostItems;

  constructor(client: Pick<ExchangingVaultClient, 'exchange'>, path: string, field: TransitField<V>) {
    this.#client = client;
    this.#path = path;
    this.#field = field;
  }

  /**
   * Calls `take` with each result, in order.
   * @throws VaultError; with `index` where one item is the cause, and then nothing of its batch was taken
   */
  async run(
    items: readonly TransitInput[],
    take: (value: V, index: number) => void,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for (let from = 0; from < items.length; ) {
      const batch = items.slice(from, from + this.#most);
      const values = await this.#send(batch, from, signal);
      if (values === 'too large') continue;
      for (const [position, value] of values.entries()) take(value, from + position);
      from += batch.length;
    }
  }

  async #send(inputs: readonly TransitInput[], from: number, signal: AbortSignal | undefined) {
    const bytes = this.#exchange(inputs);
    const call: KeyRequest = { method: 'POST', path: this.#path, bytes };
    const request = signal === undefined ? call : { ...call, signal };
    try {
      const response = await this.#client.exchange(request);
      if (inputs.length > 1 && namesTooLarge(response.status, serverErrors(response.body))) {
        this.#most = Math.min(this.#most, Math.floor(inputs.length / 2));
        return 'too large';
      }
      return this.#values(request, response, inputs.length, from);
    } finally {
      bytes.body.fill(0);
    }
  }

  /** A batch with a bad item is answered by 400, and still carries what came of the others. */
  #exchange(inputs: readonly TransitInput[]): ByteExchange {
    const { name, read, discard } = this.#field;
    return {
      body: transitBody(inputs),
      read: (status, answer) => {
        const count = status === 200 || (status === 400 && inputs.length > 1) ? inputs.length : 0;
        return readTransitAnswer(answer, name, count, read, discard);
      },
    };
  }

  #values(request: VaultRequest, response: VaultResponse, count: number, from: number): V[] {
    const { status, body } = response;
    const results = (body as TransitAnswer<V> | undefined)?.results;
    if (results?.length !== count) throw this.#noResults(request, response, count, from);
    const values = results.flatMap((result) => ('value' in result ? [result.value] : []));
    const bad = results.findIndex((result) => 'error' in result);
    if (bad < 0) return values;
    for (const value of values) this.#field.discard(value);
    const { error } = results[bad] as { error: string };
    throw this.#badItem(status, plainText(error), from + bad);
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
