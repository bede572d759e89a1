import { namesTooLarge, serverErrors } from './answers.ts';
import { CallSize } from './call-size.ts';
import type { ExchangingVaultClient } from './client.ts';
import {
  type ByteExchange,
  failureKind,
  failureOf,
  type ItemResults,
  isVaultError,
  type KeyRequest,
  plainText,
  serverReason,
  type Transit,
  type TransitCalls,
  type TransitItem,
  VaultError,
  type VaultResponse,
  type WrapItem,
  type WrappedKey,
} from './contract.ts';
import type { HangGuard } from './hang-guard.ts';
import { joinedCalls } from './joined-calls.ts';
import { vaultPath } from './path.ts';
import {
  parseWrappedKey,
  type ReadValue,
  readKey,
  readTransitAnswer,
  readWrapped,
  type TransitAnswer,
  type TransitInput,
  transitBody,
} from './transit-messages.ts';

export interface TransitOptions {
  /** Mount of the transit engine, such as `transit`. */
  readonly mount: string;
  readonly keyName: string;
  /** Whether keys of several callers may share a call while others are in flight. Default: false. */
  readonly joinCalls?: boolean;
  /** Limits the wait for each call. Default: only the client's own timeout. */
  readonly hangGuard?: HangGuard;
  /** Milliseconds of a clock that never goes back. Default: `performance.now()`. */
  readonly now?: () => number;
}

/** Wraps and unwraps data keys, which are handled as bytes in memory that is zeroed, never as strings. */
export function createTransit(
  client: Pick<ExchangingVaultClient, 'exchange'>,
  { mount, keyName, joinCalls = false, hangGuard, now = () => performance.now() }: TransitOptions,
): Transit {
  const encrypt = new PlainCalls(client, vaultPath(mount, 'encrypt', keyName), ciphertext, now);
  const decrypt = new PlainCalls(client, vaultPath(mount, 'decrypt', keyName), plaintext, now);
  const made = <V>(plain: TransitCalls<V>): TransitCalls<V> => {
    const calls = joinCalls ? joinedCalls(plain) : plain;
    return hangGuard?.guarded(calls) ?? calls;
  };
  const wrapCalls = made(encrypt);
  const unwrapCalls = made(decrypt);
  return {
    keyName,
    wrap: (items, signal) => wrap(wrapCalls, items, signal),
    unwrap: (items, signal) => unwrap(unwrapCalls, items, keyName, signal),
  };
}

const ciphertext: TransitField<string> = { name: 'ciphertext', read: readWrapped, discard: () => undefined };
const plaintext: TransitField<Buffer> = { name: 'plaintext', read: readKey, discard: (key) => key.fill(0) };

async function wrap(
  calls: TransitCalls<string>,
  items: readonly WrapItem[],
  signal: AbortSignal | undefined,
): Promise<WrappedKey[]> {
  const wrapped: WrappedKey[] = [];
  const take = (value: string, index: number) => wrapped.push(checkedWrap(value, index));
  const inputs = items.map(({ key, ...bound }) => ({ plaintext: key, ...bound }));
  await run(calls, inputs, take, signal);
  return wrapped;
}

function checkedWrap(ciphertext: string, index: number): WrappedKey {
  const parsed = parseWrappedKey(ciphertext);
  if (parsed !== undefined) return { ciphertext, keyVersion: parsed.keyVersion };
  throw new VaultError('rejected', 'The key server did not answer with a wrapped key', { index });
}

async function unwrap(
  calls: TransitCalls<Buffer>,
  items: readonly TransitItem[],
  keyName: string,
  signal: AbortSignal | undefined,
): Promise<Buffer[]> {
  const keys: Buffer[] = [];
  try {
    items.forEach(refuseMalformed);
    await run(calls, items, (key) => keys.push(key), signal);
    return keys;
  } catch (error) {
    for (const key of keys) key.fill(0);
    throw withVersion(error, items, keyName);
  }
}

function refuseMalformed({ ciphertext }: TransitItem, index: number): void {
  if (parseWrappedKey(ciphertext) !== undefined) return;
  throw new VaultError(
    'rejected',
    `Item ${index} is not a wrapped key of the form vault:v<version>:<base64>`,
    {
      index,
    },
  );
}

/** Names the requested version if that is the problem; the policy does not permit reading the key's minimum version. */
function withVersion(error: unknown, items: readonly TransitItem[], keyName: string): unknown {
  if (!isVaultError(error) || error.kind !== 'expired-version') return error;
  const { path, status, index = 0 } = error;
  const version = parseWrappedKey(items[index]?.ciphertext ?? '')?.keyVersion;
  const message = `Version ${version} of transit key ${keyName} is below its min_decryption_version (item ${index})`;
  return new VaultError('expired-version', message, {
    ...{ path, status, index, cause: error },
    nextStep: `Set min_decryption_version of ${keyName} to ${version} or less until nothing needs that version.`,
  });
}

/**
 * Processes any number of items, in calls of as many as the server accepts. Passes each result to `take`, in order.
 * @throws VaultError; with `index` if one item is the cause, and then no result of its call was passed on
 */
async function run<V>(
  calls: TransitCalls<V>,
  items: readonly TransitInput[],
  take: (value: V, index: number) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let from = 0; from < items.length; ) {
    const sent = items.slice(from, from + calls.most);
    const answer = await calls.call(sent, signal);
    if (answer === 'too large') continue;
    for (const [position, value] of valuesOf(calls, answer, from).entries()) take(value, from + position);
    from += sent.length;
  }
}

function valuesOf<V>(calls: TransitCalls<V>, { status, results }: ItemResults<V>, from: number): V[] {
  const values = results.flatMap((result) => ('value' in result ? [result.value] : []));
  if (values.length === results.length) return values;
  for (const value of values) calls.discard(value);
  const bad = results.findIndex((result) => 'error' in result);
  const reason = plainText((results[bad] as { error: string }).error);
  const message = `The key server refuses item ${from + bad} at ${calls.path}: ${reason}`;
  throw new VaultError(failureKind(status, reason), message, { status, path: calls.path, index: from + bad });
}

/** The result field of one operation of the transit engine. */
interface TransitField<V> {
  readonly name: string;
  readonly read: ReadValue<V>;
  /** Called with each value that was read but is not returned. */
  readonly discard: (value: V) => void;
}

/** Calls of one operation of the transit engine: a plain call for one item, `batch_input` for more. */
class PlainCalls<V> implements TransitCalls<V> {
  readonly path: string;
  readonly #client: Pick<ExchangingVaultClient, 'exchange'>;
  readonly #field: TransitField<V>;
  readonly #size: CallSize;
  /** References used so far, unique in this process. */
  #referencesUsed = 0;

  constructor(
    client: Pick<ExchangingVaultClient, 'exchange'>,
    path: string,
    field: TransitField<V>,
    now: () => number,
  ) {
    this.#client = client;
    this.#size = new CallSize(now);
    this.path = path;
    this.#field = field;
  }

  get most(): number {
    return this.#size.most;
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
        this.#size.refused(inputs.length);
        return 'too large' as const;
      }
      if (response.status < 400) this.#size.accepted(inputs.length);
      return this.#results(request, response, inputs.length);
    } finally {
      bytes.body.fill(0);
    }
  }

  /** A batch with a bad item is answered with 400, but still contains the other results. */
  #exchange(inputs: readonly TransitInput[]): ByteExchange {
    const { name, read, discard } = this.#field;
    const reference = this.#referencesUsed;
    if (inputs.length > 1) this.#referencesUsed += inputs.length;
    return {
      body: transitBody(inputs, reference),
      read: ({ status }, answer) => {
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
    const message = `The key server answered ${this.path} unlike a transit engine`;
    throw new VaultError('rejected', message, { status, path: this.path });
  }
}

/** Not caused by a single item, so items are not retried individually. */
const misplaced = (path: string, status: number): VaultError =>
  new VaultError('unavailable', `The key server answered ${path} with the results of other items`, {
    ...{ path, status },
    nextStep: 'Check whether something else answers at its address: nothing of this answer was used.',
  });
