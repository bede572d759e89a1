import { randomFillSync, timingSafeEqual } from 'node:crypto';
import { isVaultError, type Transit, type WrappedKey } from '../../../keyserver/contract.ts';
import { dekBytes } from '../../../objects/format/cipher.ts';
import {
  type BindingMode,
  type KeyPurpose,
  type ObjectName,
  versionOfWrapped,
} from '../../../objects/format/metadata.ts';
import { createDataKeys, type DataKeys, type WrapScheme } from '../../../objects/keys/data-keys.ts';
import { type RewrapRecords, withRewraps } from '../../../objects/keys/rewrapped-keys.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';

export interface WrappedItem {
  readonly wrapped: string;
  readonly purpose: KeyPurpose;
}

/** Access to keys as they are wrapped now, and wrapping by the target. */
export interface TargetKeys {
  readonly keyName: string;
  /** The target's latest version. */
  readonly keyVersion: number;
  /**
   * Passes the keys to `use` in the clear, and zeroes them afterwards.
   * @throws EnvelopeError `foreign-key`; VaultError
   */
  open<T>(
    name: ObjectName,
    scheme: WrapScheme,
    items: readonly WrappedItem[],
    use: (keys: readonly Buffer[]) => T | Promise<T>,
    signal: AbortSignal,
  ): Promise<T>;
  /** Wraps keys for their present place. */
  wrap(
    name: ObjectName,
    binding: BindingMode,
    keys: readonly { readonly key: Uint8Array; readonly purpose: KeyPurpose }[],
    signal: AbortSignal,
  ): Promise<WrappedKey[]>;
  /**
   * Whether all keys are wrapped by the target in this version or a later one. Recorded keys are tested by unwrapping:
   * an earlier run may have moved them to a key of the same name at another mount.
   */
  isCurrent(
    name: ObjectName,
    scheme: WrapScheme,
    keys: { readonly items: readonly WrappedItem[]; readonly recorded: boolean },
    signal: AbortSignal,
  ): Promise<boolean>;
}

export interface TransitPair {
  readonly from: Transit;
  readonly to: Transit;
  /** Both keys have the same name; only their mounts differ. */
  readonly alike: boolean;
}

/**
 * Tests that the target wraps, and unwraps the result, before anything depends on it.
 * @throws VaultError; SvcError REWRAP_TARGET
 */
export async function openTarget(
  { from, to, alike }: TransitPair,
  records: RewrapRecords,
  signal: AbortSignal,
): Promise<TargetKeys> {
  const keyVersion = await tryOut(to, signal);
  const reading = (transit: Transit) =>
    withRewraps(createDataKeys(transit, { binding: 'key', requireBound: false }), records);
  const [source, target] = [reading(from), reading(to)];
  const wrapping = new Map<BindingMode, DataKeys>();
  for (const binding of ['none', 'key', 'bucket-key'] as const)
    wrapping.set(binding, createDataKeys(to, { binding, requireBound: false }));
  const { keyName } = to;
  const plain = createDataKeys(to, { binding: 'key', requireBound: false });

  async function unwraps(...asked: Parameters<DataKeys['unwrap']>): Promise<boolean> {
    try {
      for (const key of await plain.unwrap(...asked)) key.fill(0);
      return true;
    } catch (error) {
      if (isVaultError(error) && error.kind === 'rejected') return false;
      throw error;
    }
  }

  return {
    keyName,
    keyVersion,
    async open(name, scheme, items, use, signal) {
      const order = scheme.keyName === keyName && !alike ? [target, source] : [source, target];
      const unwrapped = await unwrapByEither(order, name, scheme, items, signal);
      try {
        return await use(unwrapped);
      } finally {
        for (const key of unwrapped) key.fill(0);
      }
    },
    wrap: (name, binding, keys, signal) => (wrapping.get(binding) as DataKeys).wrap(name, keys, signal),
    async isCurrent(name, scheme, { items, recorded }, signal) {
      if (scheme.keyName !== keyName) return false;
      if (!items.every(({ wrapped }) => versionOfWrapped(wrapped) >= keyVersion)) return false;
      return !(alike || recorded) || unwraps(name, scheme, items, signal);
    },
  };
}

type Asked = Parameters<DataKeys['unwrap']>;

/** A record may already be wrapped by the other key. @throws the first key's error if neither unwraps */
async function unwrapByEither([first, second]: readonly DataKeys[], ...asked: Asked): Promise<Buffer[]> {
  try {
    return await (first as DataKeys).unwrap(...asked);
  } catch (error) {
    const away = isVaultError(error) && error.kind === 'unavailable';
    if (away || second === undefined) throw error;
    return second.unwrap(...asked).catch(() => {
      throw error;
    });
  }
}

/** @returns the version that wraps now */
async function tryOut(transit: Transit, signal: AbortSignal): Promise<number> {
  const key = randomFillSync(Buffer.from(new ArrayBuffer(dekBytes)));
  const associatedData = '["svc",1,null,"","probe"]';
  const [wrapped] = await transit.wrap([{ key, associatedData }], signal);
  const { ciphertext = '', keyVersion = 0 } = wrapped ?? {};
  const [again] = await transit.unwrap([{ ciphertext, associatedData }], signal);
  const same = again?.length === key.length && timingSafeEqual(again, key);
  again?.fill(0);
  key.fill(0);
  if (same) return keyVersion;
  throw new SvcError('REWRAP_TARGET', `Transit key ${transit.keyName} does not unwrap what it has wrapped`, {
    nextStep: 'Name a key of type aes256-gcm96 that is neither derived nor convergent.',
    exitStatus: exitStatus.config,
  });
}
