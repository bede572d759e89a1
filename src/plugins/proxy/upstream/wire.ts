import type { IncomingMessage } from 'node:http';

/** Head of a request as it goes on the wire: signed, with its framing headers. */
export interface WireHead {
  readonly method: string;
  /** Path and query of the request line. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * One request on its way over one connection. Failures reject with what the
 * operating system or a time-out said; `failures.ts` puts them into S3's words.
 */
export interface Wire {
  /** The head of the store's answer, whenever it comes; early answers to bodies included. */
  readonly response: Promise<IncomingMessage>;
  /** Resolves when the store agrees to a body that was announced by `Expect: 100-continue`, has answered, or says nothing for long. */
  readonly agreed: Promise<void>;
  /** True when a kept connection turned out to be closed by the store: the request was not seen. */
  readonly stale: boolean;
  /**
   * Resolves when the operating system has the buffer, which may be changed then.
   * @throws AnsweredEarly when the store has answered already
   */
  write(buffer: Uint8Array): Promise<void>;
  /** @throws AnsweredEarly when the store has answered already */
  end(buffers: readonly Uint8Array[]): void;
  /** Resets the connection. Safe at any time. */
  reset(reason: Error): void;
}

/** Opens requests to one endpoint. */
export interface WireOpener {
  open(head: WireHead, signal: AbortSignal | undefined): Wire;
  close(): void;
}
