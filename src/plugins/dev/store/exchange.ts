import type { Payload } from '../../../core/s3/received-payload.ts';
import type { S3Request } from '../../../core/s3/request.ts';
import type { Catalog } from './catalog.ts';
import type { Reply } from './reply.ts';

export interface StoreLimits {
  /** Bytes of every part but the last. */
  readonly leastPartBytes: number;
}

/** One request being answered. */
export interface StoreExchange {
  readonly catalog: Catalog;
  readonly request: S3Request;
  readonly payload: Payload;
  readonly reply: Reply;
  readonly limits: StoreLimits;
  /** The `x-amz-checksum-*` that were verified; complete when the payload has been read. */
  readonly checksums: Readonly<Record<string, string>>;
}

/** Answers one operation. @throws S3Error */
export type StoreHandler = (exchange: StoreExchange) => Promise<void> | void;
