import type { BindingMode } from '../../core/envelope/binding.ts';

/** Configuration of the proxy after parsing; sizes in bytes, times in milliseconds. */
export interface ProxyConfig {
  readonly listen: { readonly host: string; readonly port: number };
  /** Base URL of the store; path-style requests go below it. */
  readonly upstream: URL;
  readonly region: string;
  /** `auto`: unsigned payload over https, chunk signatures over http. */
  readonly upstreamSigning: 'auto' | 'unsigned' | 'signed';
  /** Trailing checksum over the ciphertext, or `none` for stores that refuse trailers. */
  readonly upstreamChecksum: 'crc32' | 'none';
  /** Keys that callers sign with; undefined: callers are not authenticated. */
  readonly callerKeys: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** Further names, in lower case, that callers may use where they are not authenticated. */
  readonly hosts: readonly string[];
  readonly allowAnonymous: boolean;
  readonly binding: BindingMode;
  readonly requireBound: boolean;
  readonly unencryptedReads: 'allow' | 'deny';
  readonly strict: boolean;
  readonly spoolDir: string;
  /** Bound on ciphertext kept on disk. */
  readonly spoolSize: number;
  readonly verifyBuffer: number;
  readonly verifyBudget: number;
  readonly listSizes: 'plaintext' | 'stored';
  /** Ends with `/`, such as `.svc/`. */
  readonly reservedPrefix: string;
  /** Bucket for the helper objects; undefined: beside the objects. */
  readonly stateBucket: string | undefined;
  /** Objects up to this many plaintext bytes get their part list inline; 0: never. */
  readonly inlineLimit: number;
  readonly workers: number;
}
