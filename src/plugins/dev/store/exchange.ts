import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Payload } from '../../../objects/s3/received-payload.ts';
import type { S3Request } from '../../../objects/s3/request.ts';
import type { Catalog } from './catalog.ts';

export interface StoreLimits {
  /** Minimum bytes of every part but the last. */
  readonly leastPartBytes: number;
}

/** One request being answered. */
export interface StoreExchange {
  readonly catalog: Catalog;
  readonly request: S3Request;
  readonly payload: Payload;
  readonly reply: StoreReply;
  readonly limits: StoreLimits;
  /** The verified `x-amz-checksum-*` headers; complete once the payload has been read. */
  readonly checksums: Readonly<Record<string, string>>;
}

/** Answers one operation. @throws S3Error */
export type StoreHandler = (exchange: StoreExchange) => Promise<void> | void;

type Headers = Readonly<Record<string, string | number | undefined>>;

/** The answer to one request. */
export class StoreReply {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get started(): boolean {
    return this.#response.headersSent;
  }

  empty(status: number, headers: Headers = {}): void {
    this.#head(status, status === 200 ? { 'content-length': 0, ...headers } : headers);
    this.#response.end();
  }

  /** @param root the root element with its content */
  xml(status: number, root: string, headers: Headers = {}): void {
    const text = `<?xml version="1.0" encoding="UTF-8"?>\n${root}`;
    const length = Buffer.byteLength(text);
    this.#head(status, { ...headers, 'content-type': 'application/xml', 'content-length': length });
    this.#response.end(text);
  }

  /** @throws Error if the connection breaks before the end */
  async stream(status: number, headers: Headers, body: AsyncIterable<Buffer>): Promise<void> {
    this.#head(status, headers);
    await pipeline(Readable.from(body, { objectMode: false }), this.#response);
  }

  /** Cuts the connection, so that a partial response is not mistaken for a complete one. */
  destroy(): void {
    this.#response.destroy();
  }

  #head(status: number, headers: Headers): void {
    const known = Object.entries(headers).filter(
      (entry): entry is [string, string | number] => entry[1] !== undefined,
    );
    this.#response.writeHead(status, Object.fromEntries(known));
  }
}
