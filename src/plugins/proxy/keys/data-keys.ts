import type { BindingMode, KeyPurpose, ObjectName } from '../../../core/envelope/binding.ts';
import type { WrappedKey } from '../../../runtime/vault/contract.ts';

/** A fresh key in the clear with its wrapped form. `key` is zeroed by whoever asked for it. */
export interface FreshKey extends WrappedKey {
  readonly key: Buffer;
}

/** How a stored object's keys were wrapped. */
export interface WrapScheme {
  readonly keyName: string;
  readonly binding: BindingMode;
}

/** DEKs and seal keys of objects, wrapped by the transit key. */
export interface DataKeys {
  readonly scheme: WrapScheme;
  /** Fresh random keys under the proxy's own scheme, one a purpose, in order. */
  create(name: ObjectName, purposes: readonly KeyPurpose[], signal?: AbortSignal): Promise<FreshKey[]>;
  /** Wraps keys again (copies), under the proxy's own scheme and the latest KEK version. */
  wrap(
    name: ObjectName,
    keys: readonly { readonly key: Uint8Array; readonly purpose: KeyPurpose }[],
    signal?: AbortSignal,
  ): Promise<WrappedKey[]>;
  /**
   * Unwraps keys of a stored object; the caller zeroes them.
   * @throws EnvelopeError `foreign-key` when wrapped under another transit key than ours,
   *   `unbound` under `--require-bound` for keys without binding; VaultError otherwise.
   */
  unwrap(
    name: ObjectName,
    scheme: WrapScheme,
    items: readonly { readonly wrapped: string; readonly purpose: KeyPurpose }[],
    signal?: AbortSignal,
  ): Promise<Buffer[]>;
}
