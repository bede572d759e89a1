import type { S3Target } from '../../test/support/types.ts';

/** What a load process sends: for so many seconds, or so many requests, whichever ends first; one at least. */
export interface Job {
  readonly target: S3Target;
  readonly bucket: string;
  readonly method: 'PUT' | 'GET';
  /** Requests take turns over so many objects `<prefix><n>`; the bucket itself where the prefix is empty. */
  readonly objects: number;
  readonly prefix: string;
  /** Bytes of a body. */
  readonly size: number;
  readonly clients: number;
  readonly seconds?: number;
  readonly requests?: number;
  readonly query?: string;
  /** PUT sends the parts 1 to `objects` of this upload of the object `<prefix>`. */
  readonly uploadId?: string;
  readonly range?: string;
  /** 500, 503 and cut connections are counted and tried again, as S3's clients do; otherwise they end the job. */
  readonly refusals?: boolean;
}

export interface JobResult {
  readonly seconds: number;
  readonly requests: number;
  /** Of bodies, both ways. */
  readonly bytes: number;
  /** From the first byte sent to the last one received, in ms. */
  readonly p50: number;
  readonly p99: number;
  readonly refused: number;
  /** CPU seconds of the load process. */
  readonly loadCpu: number;
}
