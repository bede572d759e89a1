import type { KeyPurpose, ObjectName } from '../../../core/envelope/binding.ts';
import type { Checksums } from '../../../core/s3/checksum.ts';
import type { WrappedKey } from '../../../runtime/vault/contract.ts';
import type { ProxyContext } from '../context.ts';
import type { UpstreamRequest, UpstreamResponse } from '../upstream/upstream.ts';

/** A plaintext and where its ciphertext goes. */
export interface EncryptionPlan {
  readonly name: ObjectName;
  readonly purpose: KeyPurpose;
  /** Ends without error only when the plaintext is whole and right. Chunks are valid until the next is asked for. */
  readonly source: AsyncIterable<Buffer>;
  /** Plaintext bytes; undefined when only the end of `source` will tell. */
  readonly length: number | undefined;
  /** Of the plaintext, to be kept beside its key; asked for once `source` has ended. */
  readonly checksums?: () => Checksums;
  /** The request that carries the ciphertext; what it throws comes before any data is sent. */
  readonly request: (key: WrappedKey) => UpstreamRequest;
  readonly signal?: AbortSignal | undefined;
}

/** What the store said to a body that it has taken. */
export interface Sealed {
  /** Base64 of 12 bytes. */
  readonly nonce: string;
  /** Plaintext bytes. */
  readonly size: number;
  readonly response: UpstreamResponse;
}

export type WriteContext = Pick<ProxyContext, 'config' | 'keys' | 'upstream' | 'metrics' | 'spoolSpace'>;
