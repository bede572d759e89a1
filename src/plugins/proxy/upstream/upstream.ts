import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** A request to the store; host, date, signature and framing headers are added. */
export interface UpstreamRequest {
  readonly method: string;
  /** Empty for the service itself. */
  readonly bucket: string;
  /** Decoded; empty for the bucket itself. */
  readonly key: string;
  readonly query?: readonly (readonly [name: string, value: string])[];
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Must be consumed or destroyed. */
  readonly body: IncomingMessage;
}

/** A body of known length on its way to the store. */
export interface UpstreamUpload {
  /**
   * Resolves when the store's connection takes more; `chunk` may be changed then.
   * @throws AnsweredEarly when the store has answered already: read `answer`; S3Error 503 when it is gone.
   */
  write(chunk: Uint8Array): Promise<void>;
  /** Sends the end of the body, with its trailing checksum, and answers what the store said, early or not. */
  finish(lastChunk: Uint8Array): Promise<UpstreamResponse>;
  /** What the store answers; for a refusal that came before the end of the body. */
  answer(): Promise<UpstreamResponse>;
  /** Resets the connection: the store must not keep what it has. Safe to call at any time. */
  abort(): void;
}

/**
 * The store as callers' requests reach it: signed with the proxy's own
 * credentials, over kept-alive connections.
 * Connection failures and time-outs throw S3Error 503 `ServiceUnavailable`,
 * redirects S3Error 500: a caller who followed one would get past the proxy.
 * When `signal` is aborted, its reason is thrown.
 */
export interface Upstream {
  /** A request without body, or with a small one held in memory. Never follows redirects. */
  send(request: UpstreamRequest, body?: Uint8Array): Promise<UpstreamResponse>;
  /** A request whose body of `length` bytes is streamed; the trailing checksum keeps a cut body from being stored. */
  upload(request: UpstreamRequest, length: number): Promise<UpstreamUpload>;
  close(): void;
}
