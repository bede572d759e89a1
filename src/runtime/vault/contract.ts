/** A request to the key server's HTTP API. `path` is below `/v1/`, its segments already encoded. */
export interface VaultRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'LIST' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** A request that may be about keys. */
export interface KeyRequest extends VaultRequest {
  /** Instead of `body`, where keys stand in the request or in its answer. */
  readonly bytes?: ByteExchange;
}

/** A body and an answer of which no string is made, and whose copies are zeroed. */
export interface ByteExchange {
  /** A JSON text. It is copied, and zeroed by its owner when the call has settled. */
  readonly body: Uint8Array;
  /**
   * Makes of an answer what is handed over as its body. The bytes are zeroed when it returns.
   * @throws JsonError
   */
  read(status: number, answer: Uint8Array): unknown;
}

export interface VaultResponse {
  readonly status: number;
  /** Parsed JSON, or undefined for an empty body. */
  readonly body: unknown;
}

/** How bytes reach the key server. The token is passed per request and never kept. */
export interface VaultTransport {
  /**
   * Answers any HTTP status. `timeoutMs` shortens the transport's own bound on the whole exchange.
   * @throws VaultError of kind `unavailable`; the signal's reason when aborted
   */
  send(
    request: KeyRequest & { readonly token?: string; readonly timeoutMs?: number },
  ): Promise<VaultResponse>;
  close(): void;
}

/** An authenticated client: logs in, renews or logs in again, retries what may be retried. */
export interface VaultClient {
  /** Answers the parsed body of a 2xx or throws VaultError. */
  request(request: VaultRequest): Promise<unknown>;
  /** Starts logging in and keeps a token alive until `close`. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface TransitItem {
  /** For `unwrap`: `vault:vN:…`. */
  readonly ciphertext: string;
  readonly associatedData?: string;
}
export interface WrapItem {
  readonly key: Uint8Array;
  readonly associatedData?: string;
}
export interface WrappedKey {
  readonly ciphertext: string;
  readonly keyVersion: number;
}

/** The transit engine: wraps and unwraps data keys under one KEK. `associatedData` is UTF-8 text, bound to the wrap. */
export interface Transit {
  readonly keyName: string;
  /** One result per item, in order. Any number of items: batches are split as the server allows. */
  wrap(items: readonly WrapItem[], signal?: AbortSignal): Promise<WrappedKey[]>;
  /**
   * One 32-byte (or as wrapped) key per item, in order; the caller zeroes them.
   * @throws VaultError of kind `rejected` naming the index of a bad item, after zeroing the good ones.
   */
  unwrap(items: readonly TransitItem[], signal?: AbortSignal): Promise<Buffer[]>;
}

/**
 * Why a call failed, which decides what the caller answers:
 * - `unavailable`: sealed, away, slow, busy (worth a retry later);
 * - `denied`: 403 after a fresh login (a policy is missing);
 * - `rejected`: the server understood and refused the input (wrong associated data, bad ciphertext);
 * - `expired-version`: the key version lies below `min_decryption_version`;
 * - `not-found`: no such mount, key or path.
 */
export type VaultFailure = 'unavailable' | 'denied' | 'rejected' | 'expired-version' | 'not-found';
