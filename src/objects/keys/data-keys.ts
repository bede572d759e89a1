import { randomFillSync } from 'node:crypto';
import type { Transit, WrappedKey } from '../../keyserver/contract.ts';
import type { ObjectsConfig } from '../config.ts';
import { dekBytes, EnvelopeError } from '../format/cipher.ts';
import { associatedData, type BindingMode, type KeyPurpose, type ObjectName } from '../format/metadata.ts';

/** A fresh key in the clear with its wrapped form. The caller zeroes `key`. */
export interface FreshKey extends BoundKey {
  readonly key: Buffer;
}

/** A key wrapped for its place, and sealed to recovery keys if its kind is. */
export interface BoundKey extends WrappedKey {
  readonly recovery?: string;
}

/** How a stored object's keys were wrapped. */
export interface WrapScheme {
  readonly keyName: string;
  readonly binding: BindingMode;
  /** The envelope's DEK or seal key, sealed to recovery keys. */
  readonly recovery?: string;
}

/** DEKs and seal keys of objects, wrapped by the transit key. */
export interface DataKeys {
  readonly scheme: WrapScheme;
  /** Number of recovery keys that each key is sealed to; default: none. */
  readonly recipients?: number;
  /** Creates one random key for each purpose, in order, under the proxy's own scheme. */
  create(name: ObjectName, purposes: readonly KeyPurpose[], signal?: AbortSignal): Promise<FreshKey[]>;
  /** Wraps existing keys (of copies) under the proxy's own scheme and the latest KEK version. */
  wrap(
    name: ObjectName,
    keys: readonly { readonly key: Uint8Array; readonly purpose: KeyPurpose }[],
    signal?: AbortSignal,
  ): Promise<BoundKey[]>;
  /**
   * Unwraps keys of a stored object; the caller zeroes them.
   * @throws EnvelopeError `foreign-key` for keys wrapped under another transit key, `unbound` for keys without binding
   *   under `--require-bound`; VaultError otherwise
   */
  unwrap(
    name: ObjectName,
    scheme: WrapScheme,
    items: readonly StoredKey[],
    signal?: AbortSignal,
  ): Promise<Buffer[]>;
}

export interface StoredKey {
  readonly wrapped: string;
  readonly purpose: KeyPurpose;
  /** For a part: its DEK sealed under the seal key. */
  readonly recovery?: string | undefined;
}

type KeyConfig = Pick<ObjectsConfig, 'binding' | 'requireBound'>;

/** Data keys wrapped by `transit`, bound as `config` says. */
export function createDataKeys(transit: Transit, config: KeyConfig): DataKeys {
  const scheme: WrapScheme = { keyName: transit.keyName, binding: config.binding };
  const wrap: DataKeys['wrap'] = (name, keys, signal) =>
    transit.wrap(
      keys.map(({ key, purpose }) => ({ key, ...bound(config.binding, name, purpose) })),
      signal,
    );
  return {
    scheme,
    wrap,
    create: (name, purposes, signal) => createKeys(wrap, name, purposes, signal),
    unwrap: async (name, stored, items, signal) => {
      refuseForeign(stored, transit.keyName);
      if (config.requireBound) refuseUnbound(stored);
      const wrapped = items.map(({ wrapped, purpose }) => ({
        ciphertext: wrapped,
        ...bound(stored.binding, name, purpose),
      }));
      return whole(await transit.unwrap(wrapped, signal));
    },
  };
}

/** Creates a single key. The caller zeroes it. */
export async function createKey(
  keys: Pick<DataKeys, 'create'>,
  name: ObjectName,
  purpose: KeyPurpose,
  signal?: AbortSignal,
): Promise<FreshKey> {
  const [fresh] = await keys.create(name, [purpose], signal);
  if (fresh === undefined) throw new TypeError('a purpose without a key');
  return fresh;
}

function bound(mode: BindingMode, name: ObjectName, purpose: KeyPurpose): { associatedData?: string } {
  const text = associatedData(mode, name, purpose);
  return text === undefined ? {} : { associatedData: text };
}

async function createKeys(
  wrap: DataKeys['wrap'],
  name: ObjectName,
  purposes: readonly KeyPurpose[],
  signal: AbortSignal | undefined,
): Promise<FreshKey[]> {
  const keys = purposes.map((purpose) => ({ key: randomKey(), purpose }));
  try {
    const wrapped = await wrap(name, keys, signal);
    return keys.map(({ key }, index) => ({ key, ...(wrapped[index] as WrappedKey) }));
  } catch (error) {
    for (const { key } of keys) key.fill(0);
    throw error;
  }
}

/** In its own ArrayBuffer: small arrays live on the heap of V8, where garbage collection leaves copies behind. */
const randomKey = (): Buffer => randomFillSync(Buffer.from(new ArrayBuffer(dekBytes)));

function refuseForeign(stored: WrapScheme, keyName: string): void {
  if (stored.keyName === keyName) return;
  throw new EnvelopeError(
    'foreign-key',
    `the object's key is wrapped by another transit key than ${keyName}`,
  );
}

function refuseUnbound(stored: WrapScheme): void {
  if (stored.binding !== 'none') return;
  throw new EnvelopeError('unbound', "the object's key is not bound to its name and --require-bound is set");
}

/** svc makes keys of this length only. */
function whole(keys: Buffer[]): Buffer[] {
  if (keys.every((key) => key.length === dekBytes)) return keys;
  for (const key of keys) key.fill(0);
  throw new EnvelopeError('malformed-metadata', `a wrapped key is not ${dekBytes} bytes long`);
}
