import { randomBytes } from 'node:crypto';
import {
  associatedData,
  type BindingMode,
  type KeyPurpose,
  type ObjectName,
} from '../../../core/envelope/binding.ts';
import { EnvelopeError } from '../../../core/envelope/error.ts';
import { dekBytes } from '../../../core/envelope/format.ts';
import type { Transit, WrappedKey } from '../../../runtime/vault/contract.ts';
import type { ProxyConfig } from '../config.ts';
import type { DataKeys, FreshKey, WrapScheme } from './data-keys.ts';

type KeyConfig = Pick<ProxyConfig, 'binding' | 'requireBound'>;

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
  const keys = purposes.map((purpose) => ({ key: randomBytes(dekBytes), purpose }));
  try {
    const wrapped = await wrap(name, keys, signal);
    return keys.map(({ key }, index) => ({ key, ...(wrapped[index] as WrappedKey) }));
  } catch (error) {
    for (const { key } of keys) key.fill(0);
    throw error;
  }
}

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

/** A key of another length is none that svc made. */
function whole(keys: Buffer[]): Buffer[] {
  if (keys.every((key) => key.length === dekBytes)) return keys;
  for (const key of keys) key.fill(0);
  throw new EnvelopeError('malformed-metadata', `a wrapped key is not ${dekBytes} bytes long`);
}
