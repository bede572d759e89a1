import { vaultPath } from '../../core/vault/path.ts';
import { readKey, readWrapped } from '../../core/vault/transit-body.ts';
import { parseWrappedKey } from '../../core/vault/wrapped-key.ts';
import type { ExchangingVaultClient } from './client.ts';
import type { Transit, TransitItem, WrapItem, WrappedKey } from './contract.ts';
import { isVaultError, VaultError } from './errors.ts';
import { TransitBatches, type TransitField } from './transit-batches.ts';

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
