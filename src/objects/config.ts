import type { KeyObject } from 'node:crypto';
import type { EnvelopeFormat } from './format/body-format.ts';
import type { BindingMode } from './format/metadata.ts';

/** What the engine needs to know of its store, its keys and its limits; sizes in bytes. */
export interface ObjectsConfig {
  /** Base URL of the store; path-style requests go below it. */
  readonly upstream: URL;
  readonly region: string;
  /** `auto`: unsigned payload over https, chunk signatures over http. */
  readonly upstreamSigning: 'auto' | 'unsigned' | 'signed';
  /** Trailing checksum over the ciphertext, or `none` for stores that refuse trailers. */
  readonly upstreamChecksum: 'crc32' | 'none';
  /** Format of new objects; both formats are read. */
  readonly format: EnvelopeFormat;
  readonly binding: BindingMode;
  readonly requireBound: boolean;
  /** Every data key is also sealed to these recipients. */
  readonly recoveryRecipients: readonly KeyObject[];
  readonly unencryptedReads: 'allow' | 'deny';
  readonly strict: boolean;
  readonly spoolDir: string;
  /** Bound on ciphertext kept on disk. */
  readonly spoolSize: number;
  readonly verifyBuffer: number;
  readonly verifyBudget: number;
  readonly envelopeHeaders: 'shown' | 'hidden';
  /** `format-1`, `format-2`: assumes that listed objects are encrypted in that format, and calculates their sizes. */
  readonly listSizes: 'plaintext' | 'format-1' | 'format-2' | 'stored';
  /** Ends with `/`, such as `.svc/`. */
  readonly reservedPrefix: string;
  /** Bucket for the helper objects; undefined: beside the objects. */
  readonly stateBucket: string | undefined;
  /** Objects up to this many plaintext bytes get their part list inline; 0: never. */
  readonly inlineLimit: number;
}
