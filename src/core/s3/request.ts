import type { IncomingHttpHeaders } from 'node:http';

/** A caller's S3 request after its target was parsed; immutable. */
export interface S3Request {
  readonly id: string;
  readonly method: string;
  /** Empty for the service itself (ListBuckets). */
  readonly bucket: string;
  /** Decoded from the path, exactly as the caller means it; empty for the bucket itself. */
  readonly key: string;
  /** Path and query as they stood on the request line; signatures are over these. */
  readonly rawPath: string;
  readonly rawQuery: string;
  /** Decoded, in order, signature parameters of presigned requests left out. */
  readonly query: Query;
  readonly headers: IncomingHttpHeaders;
}

/** Query parameters in order; a name may stand more than once. */
export interface Query {
  readonly entries: readonly (readonly [name: string, value: string])[];
  /** First value, or undefined when the name is absent ("?acl" gives ""). */
  get(name: string): string | undefined;
  has(name: string): boolean;
}
