import type { Readable } from 'node:stream';

/** A request to the API server. */
export interface KubeRequest {
  /** Default: GET. */
  readonly method?: string;
  /** Encoded, from the API's root, without a query: `/api/v1/pods`. */
  readonly path: string;
  /** What is undefined is left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Of the body; a patch names its kind. Default: `application/json`. */
  readonly contentType?: string;
  /** Default: `application/json`. */
  readonly accept?: string;
  readonly signal?: AbortSignal | undefined;
  /** Whether this replica leads, asked in the moment before it is sent; false: KUBE_NOT_LEADING. Default: nobody asks. */
  readonly leading?: () => boolean;
  /** Until the whole answer is there, of a stream until it begins. Default: 30 s. */
  readonly timeoutMs?: number;
  /** Larger answers are refused. Default: 64 MiB. Of `request` only. */
  readonly maxBytes?: number;
}

/** A Kubernetes API server that knows who we are. */
export interface KubeClient {
  /** Its address, and where that is known from; for logs. */
  readonly server: string;
  readonly origin: string;
  /**
   * The JSON of the answer, which the caller takes to be a `T`.
   * @throws KubeError unless it is a success; the signal's reason when aborted
   */
  request<T>(request: KubeRequest): Promise<T>;
  /**
   * What `use` makes of the body of the answer, as it comes; bounding its length is up to it.
   * @throws KubeError unless it is a success and is there in time; what `use` throws; the signal's reason when aborted
   */
  read<T>(request: KubeRequest, use: (body: AsyncIterable<Buffer>) => Promise<T>): Promise<T>;
  /**
   * The body of the answer as it comes, for watches and logs; the caller destroys it, or aborts the signal.
   * @throws KubeError unless it is a success
   */
  stream(request: KubeRequest): Promise<Readable>;
  close(): void;
}
