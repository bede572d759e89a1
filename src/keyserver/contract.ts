import { exitStatus, SvcError } from '../runtime/errors.ts';
import { secrets } from '../runtime/logging/secrets.ts';
import {
  mayRetryStatus,
  namesDeadToken,
  namesExpiredVersion,
  namesMissingKey,
  serverErrors,
  summarize,
} from './answers.ts';
import type { ItemResult, TransitInput } from './transit-messages.ts';

/** A request to the key server's HTTP API. `path` is relative to `/v1/`, with encoded segments. */
export interface VaultRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'LIST' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** A request that may contain or return keys. */
export interface KeyRequest extends VaultRequest {
  /** Replaces `body` if the request or its response contains keys. */
  readonly bytes?: ByteExchange;
}

/** A request body and a response that never become strings, and whose copies are zeroed. */
export interface ByteExchange {
  /** A JSON text; empty for none. It is copied; its owner zeroes it once the call has settled. */
  readonly body: Uint8Array;
  /** Parses a response into its body. The bytes are zeroed afterwards. @throws JsonError */
  read(answer: Answered, bytes: Buffer): unknown;
}

/** What an answer's head says. */
export interface Answered {
  readonly status: number;
  /** For how many milliseconds the server asks to be left alone. */
  readonly retryAfterMs?: number | undefined;
}

export interface VaultResponse extends Answered {
  /** Parsed JSON; undefined for an empty body. */
  readonly body: unknown;
}

/** Sends requests to the key server. The token is passed with each request and not kept. */
export interface VaultTransport {
  /**
   * Resolves with any HTTP status. `timeoutMs` can shorten the transport's own timeout for the whole exchange.
   * @throws VaultError of kind `unavailable`; the signal's reason when aborted
   */
  send(
    request: KeyRequest & { readonly token?: string; readonly timeoutMs?: number },
  ): Promise<VaultResponse>;
  close(): void;
}

/** An authenticated client: logs in, renews the token or logs in again, and retries where that may help. */
export interface VaultClient {
  /** Resolves with the parsed body of a 2xx. @throws VaultError */
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

/**
 * The transit engine: wraps and unwraps data keys under one KEK. `associatedData` is UTF-8 text that the wrapped key is
 * bound to.
 */
export interface Transit {
  readonly keyName: string;
  /** Returns one result for each item, in order. Any number of items: batches are split as the server requires. */
  wrap(items: readonly WrapItem[], signal?: AbortSignal): Promise<WrappedKey[]>;
  /**
   * Returns one key of 32 bytes (or of its original length) for each item, in order; the caller zeroes them.
   * @throws VaultError of kind `rejected` with the index of a bad item, after zeroing the good keys
   */
  unwrap(items: readonly TransitItem[], signal?: AbortSignal): Promise<Buffer[]>;
}

/** Calls of one operation of the transit engine. */
export interface TransitCalls<V> {
  /** Path below `/v1/`. */
  readonly path: string;
  /** Maximum items of one call; shrinks for a while if the server accepts fewer. */
  readonly most: number;
  /**
   * Resolves with a value or a refusal for each item, in order, or with `too large` if `most` has shrunk and smaller
   * calls may succeed. The caller must use or discard all values.
   * @throws VaultError if all items failed; the signal's reason when aborted
   */
  call(
    inputs: readonly TransitInput[],
    signal: AbortSignal | undefined,
  ): Promise<ItemResults<V> | 'too large'>;
  discard(value: V): void;
}

export interface ItemResults<V> {
  /** HTTP status of the response: a batch with a bad item is answered with 400. */
  readonly status: number;
  readonly results: readonly ItemResult<V>[];
}

/**
 * Why a call failed, which determines the caller's answer:
 * - `unavailable`: sealed, away, slow, busy (worth a retry later);
 * - `denied`: 403 after a fresh login (a policy is missing);
 * - `rejected`: the server understood and refused the input (wrong associated data, bad ciphertext);
 * - `expired-version`: the key version is below `min_decryption_version`;
 * - `not-found`: no such mount, key or path.
 */
export type VaultFailure = 'unavailable' | 'denied' | 'rejected' | 'expired-version' | 'not-found';

export interface VaultErrorOptions {
  readonly nextStep?: string;
  /** HTTP status of the last response. */
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Path below `/v1/`. */
  readonly path?: string | undefined;
  /** Position of the bad item in a list of items. */
  readonly index?: number | undefined;
  /** Default: the kind's. */
  readonly exitStatus?: number;
  /** Default: the kind's. */
  readonly code?: string;
  readonly cause?: unknown;
}

/** A failed call or login at the key server. Never contains a token or a key. */
export class VaultError extends SvcError {
  readonly kind: VaultFailure;
  readonly status: number | undefined;
  /** For how many milliseconds the server asked to be left alone. */
  readonly retryAfterMs: number | undefined;
  readonly path: string | undefined;
  readonly index: number | undefined;

  constructor(kind: VaultFailure, message: string, options: VaultErrorOptions = {}) {
    const facts = kinds[kind];
    super(options.code ?? facts.code, message, {
      nextStep: options.nextStep ?? facts.nextStep,
      exitStatus: options.exitStatus ?? facts.exitStatus,
      cause: options.cause,
    });
    this.kind = kind;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.path = options.path;
    this.index = options.index;
  }
}

const kinds: Readonly<Record<VaultFailure, { code: string; exitStatus: number; nextStep: string }>> = {
  unavailable: {
    code: 'VAULT_UNAVAILABLE',
    exitStatus: exitStatus.unavailable,
    nextStep: 'Check that the key server runs, is unsealed and can be reached at VAULT_ADDR.',
  },
  denied: {
    code: 'VAULT_DENIED',
    exitStatus: exitStatus.denied,
    nextStep: 'Check the policies and the role of the token.',
  },
  rejected: {
    code: 'VAULT_REJECTED',
    exitStatus: exitStatus.internal,
    nextStep: 'Check that the value was written under this key and has not been changed.',
  },
  'expired-version': {
    code: 'VAULT_KEY_VERSION_EXPIRED',
    exitStatus: exitStatus.internal,
    nextStep:
      'Lower min_decryption_version of the transit key, or restore a copy wrapped by a newer version.',
  },
  'not-found': {
    code: 'VAULT_NOT_FOUND',
    exitStatus: exitStatus.config,
    nextStep: 'Check the mount and the name: the path does not exist on the key server.',
  },
};

/** The timeout passed before a response arrived. */
export class NoAnswerInTime extends VaultError {
  constructor(message: string) {
    super('unavailable', message);
  }
}

/**
 * A login that was refused by a 403: for good, or for as long as the key server cannot ask the cluster's API server about
 * the service account, which looks the same.
 */
export class LoginRefused extends VaultError {
  constructor(message: string, options: VaultErrorOptions) {
    super('denied', message, options);
  }
}

/** Code for a certificate that one side does not trust, so that no connection is possible until that is fixed. */
export const certificateCode = 'VAULT_CERTIFICATE';

/** Whether another attempt may succeed with the same configuration. */
export const mayPass = (error: unknown): boolean =>
  isVaultError(error) && error.kind === 'unavailable' && error.code !== certificateCode;

export const isVaultError = (error: unknown): error is VaultError => error instanceof VaultError;

/** The key server's message on one line, without registered secrets. */
export const serverReason = (body: unknown): string => plainText(...serverErrors(body));

export const plainText = (...errors: readonly string[]): string => secrets.redact(summarize(errors));

/** Shortest pause before another attempt, in milliseconds. */
export const retryAfterOf = (error: unknown): number => (isVaultError(error) ? (error.retryAfterMs ?? 0) : 0);

/** The error for an unsuccessful response. */
export function failureOf(request: VaultRequest, { body, ...answer }: VaultResponse): VaultError {
  const { path } = request;
  const { status } = answer;
  const reason = serverReason(body);
  const kind = failureKind(status, reason);
  if (kind === 'denied') return reason === '' ? inBetween(answer, path) : refusedPath(request, status);
  const said = reason === '' ? '' : `: ${reason}`;
  const message = `The key server answered ${status} to ${path}${said}`;
  return new VaultError(kind, message, { ...answer, path });
}

/** A firewall or gateway refuses what it does not know; the key server's own 403 has a reason. */
const inBetween = (answer: Answered, path: string): VaultError =>
  new VaultError(
    'unavailable',
    `Something in between, not the key server, answered ${answer.status} to ${path}`,
    {
      ...{ ...answer, path },
      nextStep: 'Find the gateway or firewall before VAULT_ADDR, and let requests of svc pass.',
    },
  );

/**
 * The error for a response to a request about a token or a secret. The paths of these requests come from the settings,
 * so an invalid one is for the user to fix.
 */
export function refusalOf(request: VaultRequest, answer: Answered, errors: readonly string[]): VaultError {
  const { path } = request;
  const { status, retryAfterMs } = answer;
  if (status === 403 && namesDeadToken(errors)) return deadToken(status, path);
  const failure = failureOf(request, { status, retryAfterMs, body: { errors } });
  if (failure.kind !== 'rejected') return failure;
  return new VaultError('rejected', failure.message, {
    status,
    path,
    exitStatus: exitStatus.config,
    nextStep: 'Check the path, and whether the version of the key server supports this request.',
  });
}

const deadToken = (status: number, path: string): VaultError =>
  new VaultError(
    'denied',
    'The key server does not accept the token: it is wrong, has expired or was revoked',
    {
      status,
      path,
      nextStep: 'Set a valid token in VAULT_TOKEN_FILE or VAULT_TOKEN, or a role that may log in.',
    },
  );

/** A redirect to another server would leak the token. */
export const redirectedElsewhere = (host: string, status: number, path?: string): VaultError =>
  new VaultError(
    'unavailable',
    `${host} redirects ${path === undefined ? '' : `${path} `}elsewhere, which is not followed`,
    {
      status,
      path,
      nextStep: 'Point VAULT_ADDR to the active key server, or to a load balancer that finds it.',
    },
  );

/** For a request that could not be sent in time. */
export const tooBusy = (): VaultError =>
  new VaultError('unavailable', 'Too many requests are waiting for the key server', {
    nextStep: 'Find out why the key server is slow, or spread the load.',
  });

export const clientClosed = (): VaultError =>
  new VaultError('unavailable', 'The client of the key server was closed');

export function failureKind(status: number, reason: string): VaultFailure {
  if (status === 403) return 'denied';
  if (status === 404 || namesMissingKey(reason)) return 'not-found';
  if (namesExpiredVersion(reason)) return 'expired-version';
  return mayRetryStatus(status) ? 'unavailable' : 'rejected';
}

const capabilities = { GET: 'read', LIST: 'list', POST: 'update', PUT: 'update', DELETE: 'delete' } as const;

function refusedPath({ method, path }: VaultRequest, status: number): VaultError {
  const capability = capabilities[method];
  return new VaultError('denied', `The key server refuses ${capability} on ${path}`, {
    status,
    path,
    nextStep: `Grant the capability "${capability}" on ${path} in a policy of this token or role, and check that the path exists.`,
  });
}
