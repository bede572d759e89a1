export interface WireRequest {
  readonly method: string;
  /** Scheme, host and port; its path is not used. */
  readonly origin: URL;
  /** Path and query as they go on the wire. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
}

export interface WireResponse {
  readonly status: number;
  /** Parsed JSON, or undefined for an empty body and, with a status of 300 or more, for a body of another type. */
  readonly body: unknown;
  readonly location: string | undefined;
}

/** JSON exchanges over kept connections, bounded in time and size. Redirects are handed over as they are. */
export interface Wire {
  /** @throws VaultError of kind `unavailable`; the signal's reason when aborted */
  exchange(request: WireRequest): Promise<WireResponse>;
  close(): void;
}
