import { vaultPath } from '../../core/vault/path.ts';
import {
  parseWrappedKey,
  readKey,
  readWrapped,
  type TransitInput,
} from '../../core/vault/transit-messages.ts';
import type { ExchangingVaultClient } from './client.ts';
import {
  failureKind,
  isVaultError,
  plainText,
  type Transit,
  type TransitItem,
  VaultError,
  type WrapItem,
  type WrappedKey,
} from './contract.ts';
import { joinedCalls } from './joined-calls.ts';
import { type ItemResults, type TransitCalls, type TransitField, transitCalls } from './transit-calls.ts';

export interface TransitOptions {
  /** Mount of the transit engine, such as `transit`. */
  readonly mount: string;
  readonly keyName: string;
  /** Keys of several callers may leave in one call, where calls are in flight already. Default: false. */
  readonly joinCalls?: boolean;
}

/**
 * Wraps and unwraps data keys. They are bytes on their way, in memory that is zeroed: no string is made of one.
 */
export function createTransit(
  client: Pick<ExchangingVaultClient, 'exchange'>,
  { mount, keyName, joinCalls = false }: TransitOptions,
): Transit {
  const encrypt = transitCalls(client, vaultPath(mount, 'encrypt', keyName), ciphertext);
  const decrypt = transitCalls(client, vaultPath(mount, 'decrypt', keyName), plaintext);
  const wrapCalls = joinCalls ? joinedCalls(encrypt) : encrypt;
  const unwrapCalls = joinCalls ? joinedCalls(decrypt) : decrypt;
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
  throw new VaultError('rejected', 'The key server answered with what is no wrapped key', { index });
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

/**
 * Any number of items, in calls of as many as the server takes. Calls `take` with each result, in order.
 * @throws VaultError; with `index` where one item is the cause, and then nothing of its call was taken
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
