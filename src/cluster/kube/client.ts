import type { Readable } from 'node:stream';
import { type JsonText, parseBounded, TooManyParts } from '../../runtime/bounds/bounded-json.ts';
import { collect } from '../../runtime/bounds/collect.ts';
import { exitStatus, SvcError, type SvcErrorOptions } from '../../runtime/errors.ts';
import { retryAfter } from '../../runtime/net/retry-after.ts';
import { fieldManager } from './labels.ts';

/** A request to the API server. */
export interface KubeRequest {
  /** Default: GET. */
  readonly method?: string;
  /** Encoded path from the API's root, without a query: `/api/v1/pods`. */
  readonly path: string;
  /** Undefined members are omitted. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Type of the body; a patch names its kind. Default: `application/json`. */
  readonly contentType?: string;
  /** Default: `application/json`. */
  readonly accept?: string;
  readonly signal?: AbortSignal | undefined;
  /**
   * Whether this replica leads, checked immediately before sending; if false, throws KUBE_NOT_LEADING. Default: not
   * checked.
   */
  readonly leading?: () => boolean;
  /** Time for the whole response; for a stream, until it begins. Default: 30 s. */
  readonly timeoutMs?: number;
  /** Larger responses are rejected; for `request` only. Default: 64 MiB. */
  readonly maxBytes?: number;
}

/** An authenticated client of a Kubernetes API server. */
export interface KubeClient {
  /** Its address and how it was found, for logs. */
  readonly server: string;
  readonly origin: string;
  /**
   * Resolves with the response's JSON, which is assumed to be a `T`.
   * @throws KubeError unless successful; the signal's reason when aborted
   */
  request<T>(request: KubeRequest): Promise<T>;
  /**
   * Resolves with the result of `use`, which reads the body as it arrives and must limit its length.
   * @throws KubeError unless successful in time; errors of `use`; the signal's reason when aborted
   */
  read<T>(request: KubeRequest, use: (body: AsyncIterable<Buffer>) => Promise<T>): Promise<T>;
  /**
   * The response body as it arrives, for watches and logs; the caller destroys it or aborts the signal.
   * @throws KubeError unless successful
   */
  stream(request: KubeRequest): Promise<Readable>;
  close(): void;
}

/**
 * `KUBE_UNAVAILABLE`: may be temporary; `KUBE_UNTRUSTED`: its certificate is not; `KUBE_UNAUTHENTICATED`: the
 * credentials are not accepted, whatever they permit; `KUBE_GONE`: the API server no longer has that resource version;
 * `KUBE_PROTOCOL`: the response violates the API; `KUBE_TOO_LARGE`: the response has more values than are read;
 * `KUBE_NOT_LEADING`: the request was not sent.
 */
export type KubeErrorCode =
  | 'KUBE_UNAVAILABLE'
  | 'KUBE_UNTRUSTED'
  | 'KUBE_UNAUTHENTICATED'
  | 'KUBE_DENIED'
  | 'KUBE_GONE'
  | 'KUBE_NOT_FOUND'
  | 'KUBE_CONFLICT'
  | 'KUBE_REFUSED'
  | 'KUBE_NOT_LEADING'
  | 'KUBE_PROTOCOL'
  | 'KUBE_TOO_LARGE';

const steps: Readonly<Record<KubeErrorCode, string>> = {
  KUBE_UNAVAILABLE: 'The request is retried; check that the API server can be reached from here.',
  KUBE_UNTRUSTED:
    'Name the authority of its certificate and a name that is in it: certificate-authority and tls-server-name of the cluster in the kubeconfig.',
  KUBE_UNAUTHENTICATED:
    'Log in again: the credentials have expired or are of another cluster; in a pod, check its service account.',
  KUBE_DENIED: 'Check that the service account is bound to the role that this component needs.',
  KUBE_GONE: 'Nothing: the objects are listed again.',
  KUBE_NOT_FOUND: 'Check the name, and that the custom resources are installed.',
  KUBE_CONFLICT: 'Read the object again and repeat the change.',
  KUBE_REFUSED: 'Check the message of the API server.',
  KUBE_NOT_LEADING: 'Nothing: the new leader makes the change.',
  KUBE_PROTOCOL: 'Check that the address is that of a Kubernetes API server.',
  KUBE_TOO_LARGE: 'Make the object smaller, or delete it.',
};

interface KubeErrorOptions extends Partial<SvcErrorOptions> {
  /** HTTP status, or the code of a Status object in a watch. */
  readonly status?: number | undefined;
  /** Reason of a Status object, such as `AlreadyExists`. */
  readonly reason?: string | undefined;
  /** The API server asks to wait this long. */
  readonly retryAfterMs?: number | undefined;
}

/** A request that the API server did not carry out. */
export class KubeError extends SvcError {
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: KubeErrorCode, message: string, options: KubeErrorOptions = {}) {
    const { status, reason, retryAfterMs, ...rest } = options;
    super(code, message, {
      nextStep: steps[code],
      exitStatus: statuses[code] ?? exitStatus.unavailable,
      ...rest,
    });
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

const statuses: Partial<Readonly<Record<KubeErrorCode, number>>> = {
  KUBE_UNTRUSTED: exitStatus.config,
  KUBE_UNAUTHENTICATED: exitStatus.denied,
  KUBE_DENIED: exitStatus.denied,
};

export function hasCode(error: unknown, ...codes: readonly KubeErrorCode[]): error is KubeError {
  return error instanceof KubeError && codes.some((code) => code === error.code);
}

/** Whether an error is a matter of the caller's kubeconfig, and not of the cluster or permissions in it. */
export function isTrustOrLogin(error: unknown): boolean {
  return hasCode(error, 'KUBE_UNTRUSTED', 'KUBE_UNAUTHENTICATED');
}

/** Undefined for errors with these codes, which mean that the object does not exist. @throws KubeError for any other */
export async function unless<T>(
  request: Promise<T>,
  ...codes: readonly KubeErrorCode[]
): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (hasCode(error, ...codes)) return undefined;
    throw error;
  }
}

/** The members of every object; the rest depends on the kind. */
export interface KubeObject {
  readonly metadata: ObjectMeta;
}

export interface ObjectMeta {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
}

/** `namespace/name`, or the name for kinds without namespaces. */
export function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** @throws KubeError KUBE_PROTOCOL unless the object has a name, a UID and a version */
export function asObject<O extends KubeObject>(value: unknown): O {
  const { name, uid, resourceVersion } = member(value, 'metadata');
  if ([name, uid, resourceVersion].every(isText)) return value as O;
  throw new KubeError('KUBE_PROTOCOL', 'An object came without name, uid or resourceVersion');
}

/** A member that is an object; an empty object otherwise. */
export function member(value: unknown, name: string): Readonly<Record<string, unknown>> {
  const found = (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : {};
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** @returns undefined if the object does not exist. @throws KubeError */
export const readObject = <T>(
  client: KubeClient,
  path: string,
  signal?: AbortSignal,
): Promise<T | undefined> => unless(client.request<T>({ path, signal }), 'KUBE_NOT_FOUND');

export interface ApplyRequest {
  /** Path of the object, existing or not: `/api/v1/namespaces/default/configmaps/svc-ca`. */
  readonly path: string;
  /**
   * Has `apiVersion`, `kind` and all fields that we want to own; fields that we owned and that are missing are removed.
   */
  readonly object: object;
  /** Take over fields that others have set differently; default: such a conflict is KUBE_CONFLICT. */
  readonly force?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Server-side apply: creates the object if necessary; an apply without changes is not a write. The resulting object,
 * which others may have made large, is not read.
 * @throws KubeError
 */
export function apply(client: KubeClient, request: ApplyRequest): Promise<void> {
  const { path, object: body, force = false, signal } = request;
  const query = { fieldManager, force };
  const patch = { method: 'PATCH', path, query, body, signal, contentType: 'application/apply-patch+yaml' };
  return client.read(patch, passOver);
}

async function passOver(body: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of body);
}

/** Applies the status of an existing object that nobody else writes. @throws KubeError */
export function applyStatus(client: KubeClient, request: Omit<ApplyRequest, 'force'>): Promise<void> {
  return apply(client, { ...request, path: `${request.path}/status`, force: true });
}

const maxMessageLength = 300;
/** Values and names of a Status object. */
const maxStatusParts = 10_000;
const codes: Readonly<Record<number, KubeErrorCode>> = {
  401: 'KUBE_UNAUTHENTICATED',
  403: 'KUBE_DENIED',
  404: 'KUBE_NOT_FOUND',
  409: 'KUBE_CONFLICT',
  410: 'KUBE_GONE',
  429: 'KUBE_UNAVAILABLE',
};

/**
 * The error for an unsuccessful response.
 * @param what the request, such as `GET /api/v1/pods`
 * @param body text of a Status object, or anything else
 * @param header value of `Retry-After`. Not bounded, because nobody waits longer than a request's time, or a list's pause
 */
export function failureOf(what: string, status: number, body: string, header?: string): KubeError {
  const { message, reason, seconds } = statusObject(body);
  return new KubeError(codeFor(status), `${what}: ${status}: ${message}`, {
    status,
    reason,
    ...retryAfter(header ?? String(seconds), Number.POSITIVE_INFINITY),
  });
}

function codeFor(status: number): KubeErrorCode {
  return codes[status] ?? (status >= 500 ? 'KUBE_UNAVAILABLE' : 'KUBE_REFUSED');
}

interface StatusObject {
  readonly message: string;
  readonly reason: string | undefined;
  readonly seconds: unknown;
}

function statusObject(body: string): StatusObject {
  const { message, reason, details } = parsed(body);
  return {
    message: (typeof message === 'string' ? message : 'no Status object came with it').slice(
      0,
      maxMessageLength,
    ),
    reason: typeof reason === 'string' ? reason : undefined,
    seconds: (details as { retryAfterSeconds?: unknown } | undefined)?.retryAfterSeconds,
  };
}

function parsed(body: string): Readonly<Record<string, unknown>> {
  try {
    const value = parseBounded(body, { maxParts: maxStatusParts });
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Reads the whole body as text. @throws KubeError KUBE_PROTOCOL for more than `maxBytes` */
export async function readBody(what: string, body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  return (await readBytes(what, body, maxBytes)).toString('utf8');
}

/** Reads the whole body. @throws KubeError KUBE_PROTOCOL for more than `maxBytes` */
export async function readBytes(
  what: string,
  body: AsyncIterable<Buffer>,
  maxBytes: number,
): Promise<Buffer> {
  const tooLong = () => new KubeError('KUBE_PROTOCOL', `${what}: the answer has over ${maxBytes} bytes`);
  return collect(body, maxBytes, tooLong);
}

/**
 * Values and names of an object that is built: as many as of a pod that is reviewed (webhook/review.ts). Of one that has
 * more, a reader that runs for long reads an outline (read-object.ts).
 */
export const maxObjectParts = 200_000;

/** @throws KubeError KUBE_TOO_LARGE, or KUBE_PROTOCOL if it is no JSON or nested too deeply */
export function parseJson(what: string, text: JsonText, maxParts = maxObjectParts): unknown {
  try {
    return parseBounded(text, { maxParts });
  } catch (cause) {
    if (cause instanceof TooManyParts)
      throw new KubeError('KUBE_TOO_LARGE', `${what}: the answer has over ${maxParts} names and values`);
    throw notJson(what, cause);
  }
}

export function notJson(what: string, cause: unknown): KubeError {
  return new KubeError('KUBE_PROTOCOL', `${what}: the answer is not JSON`, { cause });
}
