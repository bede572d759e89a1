import type { Headers } from '../../../core/envelope/metadata.ts';

export interface ListedObject {
  readonly key: string;
  /** In bytes, as it is stored. */
  readonly size: number;
}

/** What of an object's metadata could be had. */
export type Head =
  | { readonly found: true; readonly headers: Headers }
  /** It is not there any more. */
  | { readonly found: false }
  /** The store shows it to nobody who asks like this, such as one under a key of the customer. */
  | { readonly found: 'refused'; readonly status: number };

/** What the audit asks of an object store; all of it reads. */
export interface AuditStore {
  /** Keys in the order of their bytes. @param after the key to go on behind; undefined: from the beginning */
  pages(after: string | undefined, signal: AbortSignal): AsyncIterable<readonly ListedObject[]>;
  head(key: string, signal: AbortSignal): Promise<Head>;
  close(): void;
}
