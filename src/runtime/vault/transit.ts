import { vaultPath } from '../../core/vault/path.ts';
import { associatedData } from '../../core/vault/transit-body.ts';
import { isCanonicalBase64, parseWrappedKey } from '../../core/vault/wrapped-key.ts';
import type { ExchangingVaultClient } from './client.ts';
import type { Transit, TransitItem, WrapItem, WrappedKey } from './contract.ts';
import { isVaultError, VaultError } from './errors.ts';
import { TransitBatches } from './transit-batches.ts';

export interface TransitOptions {
  /** Mount of the transit engine, such as `transit`. */
  readonly mount: string;
  readonly keyName: string;
}

/**
 * Wraps and unwraps data keys. JSON makes strings of plaintext keys on their way, which cannot be
 * zeroed; they are made batch by batch and left to the garbage collector at once.
 */
export function createTransit(
  client: Pick<ExchangingVaultClient, 'exchange'>,
  { mount, keyName }: TransitOptions,
): Transit {
  const encrypt = new TransitBatches(client, vaultPath(mount, 'encrypt', keyName), 'ciphertext');
  const decrypt = new TransitBatches(client, vaultPath(mount, 'decrypt', keyName), 'plaintext');
  return {
    keyName,
    wrap: (items, signal) => wrap(encrypt, items, signal),
    unwrap: (items, signal) => unwrap(decrypt, items, keyName, signal),
  };
}

async function wrap(
  batches: TransitBatches,
  items: readonly WrapItem[],
  signal: AbortSignal | undefined,
): Promise<WrappedKey[]> {
  const wrapped: WrappedKey[] = [];
  const take = (value: string, index: number) => wrapped.push(checkedWrap(value, index));
  await batches.run(items, wrapInput, take, signal);
  return wrapped;
}

const wrapInput = ({ key, associatedData: text }: WrapItem) => ({
  plaintext: Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('base64'),
  ...associatedData(text),
});

function checkedWrap(ciphertext: string, index: number): WrappedKey {
  const parsed = parseWrappedKey(ciphertext);
  if (parsed !== undefined) return { ciphertext, keyVersion: parsed.keyVersion };
  throw new VaultError('rejected', 'The key server answered with what is no wrapped key', { index });
}

async function unwrap(
  batches: TransitBatches,
  items: readonly TransitItem[],
  keyName: string,
  signal: AbortSignal | undefined,
): Promise<Buffer[]> {
  const keys: Buffer[] = [];
  const take = (value: string, index: number) => keys.push(decodedKey(value, index));
  try {
    items.forEach(refuseMalformed);
    await batches.run(items, unwrapInput, take, signal);
    return keys;
  } catch (error) {
    for (const key of keys) key.fill(0);
    throw withVersion(error, items, keyName);
  }
}

const unwrapInput = ({ ciphertext, associatedData: text }: TransitItem) => ({
  ciphertext,
  ...associatedData(text),
});

function refuseMalformed({ ciphertext }: TransitItem, index: number): void {
  if (parseWrappedKey(ciphertext) !== undefined) return;
  throw new VaultError('rejected', `Item ${index} is no wrapped key of the form vault:v<version>:<base64>`, {
    index,
  });
}

function decodedKey(text: string, index: number): Buffer {
  if (!isCanonicalBase64(text)) {
    throw new VaultError('rejected', 'The key server answered with what is no base64', { index });
  }
  // Not from Buffer's shared pool: the caller zeroes the key, and nothing else lies beside it.
  const key = Buffer.alloc(Buffer.byteLength(text, 'base64'));
  key.write(text, 'base64');
  return key;
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
