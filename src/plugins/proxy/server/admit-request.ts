import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { type MemoryBudget, memoryCosts, type RequestMemory } from '../../../objects/held-memory.ts';
import { type S3Error, s3Error } from '../../../objects/s3/error.ts';
import { hasBody, type Payload } from '../../../objects/s3/received-payload.ts';
import { hostName, parseCopySource, type S3Request } from '../../../objects/s3/request.ts';
import {
  SignatureVerifier,
  type SignedRequest,
  type VerifiedSignature,
} from '../../../objects/s3/sigv4-verify.ts';
import { Budget, type Share } from '../../../runtime/bounds/budget.ts';
import { isLoopback } from '../../../runtime/settings/setting.ts';
import type { ProxyConfig } from '../config.ts';

/**
 * Decides whether a request may be served. Returns undefined for callers that are not authenticated.
 * @throws S3Error AccessDenied, SignatureDoesNotMatch … for callers without the caller keys; if there are none,
 *   AccessDenied for requests that a web page may have caused
 */
export type Authenticate = (request: SignedRequest) => VerifiedSignature | undefined;

export type CallerRules = Pick<ProxyConfig, 'callerKeys' | 'hosts'> & {
  readonly listen: Pick<ProxyConfig['listen'], 'host'>;
};

/**
 * Checks signatures, in the header or presigned, if the proxy has caller keys; otherwise `Host` and origin. CORS
 * preflights (OPTIONS) are unsigned; the requests that follow have to be signed.
 */
export function createAuthenticate(rules: CallerRules): Authenticate {
  const { callerKeys } = rules;
  if (callerKeys === undefined) return ({ headers }) => refuseForeign(headers, rules);
  const { accessKeyId, secretAccessKey } = callerKeys;
  const verifier = new SignatureVerifier((id) => (id === accessKeyId ? secretAccessKey : undefined));
  return (request) => (request.method === 'OPTIONS' ? refuseBody(request.headers) : verifier.verify(request));
}

/** A preflight that waited for a body could hold its slot for as long as the caller likes. */
function refuseBody(headers: IncomingHttpHeaders): undefined {
  if (hasBody(headers)) throw s3Error('InvalidRequest', 'A preflight has no body.');
}

/**
 * Whoever reaches the port may use the proxy, and so may any web page through a browser on this machine. `Host` reveals
 * a page whose own name resolves to this address (DNS rebinding); `Origin` and `Sec-Fetch-Site` reveal one from
 * elsewhere.
 */
function refuseForeign(headers: IncomingHttpHeaders, rules: CallerRules): undefined {
  const { host = '', origin, 'sec-fetch-site': site } = headers;
  if (!isKnownHost(host === '' ? '' : hostName(host).toLowerCase(), rules))
    throw s3Error(
      'AccessDenied',
      'Callers that are not authenticated reach this proxy as localhost only. Name other hosts with --hosts, or set caller keys.',
    );
  const ownPage = origin === undefined || origin.toLowerCase() === `http://${host.toLowerCase()}`;
  if (!ownPage || !(site === undefined || site === 'same-origin' || site === 'none'))
    throw s3Error(
      'AccessDenied',
      'Cross-origin requests of browsers are served only if callers are authenticated.',
    );
}

/** Rebinding needs a name, so unless the proxy listens on loopback any IP address is acceptable. */
function isKnownHost(name: string, { listen, hosts }: CallerRules): boolean {
  if (isLoopback(name) || name.endsWith('.localhost') || hosts.includes(name)) return true;
  return !isLoopback(listen.host) && (name === listen.host || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0);
}

/**
 * Refuses request heads that `node:http` accepts and that another server on the path could interpret differently.
 * @throws S3Error InvalidRequest for versions other than HTTP/1.x, including HTTP/0.9, for no or several `Host`
 *   headers, and for names such as `x-amz-copy_source`, which some stores take for `x-amz-copy-source`
 */
export function refuseAmbiguous({
  httpVersion,
  httpVersionMajor,
  rawHeaders,
}: Pick<IncomingMessage, 'httpVersion' | 'httpVersionMajor' | 'rawHeaders'>): void {
  if (httpVersionMajor !== 1) throw s3Error('InvalidRequest', 'Only HTTP/1.0 and HTTP/1.1 are served.');
  if (httpVersion === '1.1' && hosts(rawHeaders) === 0)
    throw s3Error('InvalidRequest', 'The request has no Host header.');
  if (hosts(rawHeaders) > 1) throw s3Error('InvalidRequest', 'The request has more than one Host header.');
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (ofS3.test(name) && !plain.test(name))
      throw s3Error('InvalidRequest', `The header ${name.slice(0, 100)} could be mistaken for another one.`);
  }
}

const ofS3 = /^x-amz-/i;

/** User metadata may have any name; names that resemble the proxy's own are filtered later. */
const plain = /^x-amz-(?:[a-z0-9-]+|meta-.*)$/i;

/** `rawHeaders` alternates names and values. */
function hosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
}

type Reservation = Pick<ProxyConfig, 'reservedPrefix' | 'stateBucket'>;

/**
 * Whether a key is reserved for the proxy. Empty segments are ignored, because stores on a file system treat `/.svc//x`
 * as `.svc/x`.
 */
export function isReservedKey(key: string, reservedPrefix: string): boolean {
  if (key === '' || !key.includes(reservedPrefix.slice(0, -1))) return false;
  const plain = key.split('/').filter((segment) => segment !== '');
  return `${plain.join('/')}/`.startsWith(reservedPrefix);
}

/** @throws S3Error AccessDenied if the request's target or copy source is reserved for the proxy */
export function refuseReserved(request: S3Request, reservation: Reservation): void {
  refuseName(request, reservation);
  const source = request.headers['x-amz-copy-source'];
  if (typeof source === 'string') refuseName(parseCopySource(source), reservation);
}

function refuseName(name: { bucket: string; key: string }, reservation: Reservation): void {
  if (reservation.stateBucket !== undefined && name.bucket === reservation.stateBucket) {
    throw s3Error('AccessDenied', 'This bucket is reserved for the encryption proxy.');
  }
  if (isReservedKey(name.key, reservation.reservedPrefix)) throw reservedKey(reservation.reservedPrefix);
}

export const reservedKey = (reservedPrefix: string): S3Error =>
  s3Error('AccessDenied', `Keys that begin with ${reservedPrefix} are reserved for the encryption proxy.`);

/** Bodies up to this many bytes are bounded by the number of requests alone. */
const smallBody = 16 * 1024;

/** The payload, whose `read` takes memory before the first byte. */
export function withMemory(payload: Payload, memory: RequestMemory): Payload {
  return {
    ...payload,
    async read(limit) {
      const bytes = Math.min(payload.length ?? limit, limit);
      if (bytes <= smallBody) return payload.read(limit);
      await memory.of('bodies').take(bytes * memoryCosts.bodyByte);
      return memory.atCallersPace('bodies', () => payload.read(limit));
    },
  };
}

export interface SlotBounds {
  /** Requests served at a time. */
  readonly served: number;
  /** Requests that wait for a slot. */
  readonly waiting: number;
  /** For bodies of waiting requests. */
  readonly memory: MemoryBudget;
  /** Ends a stalled request, if there is one, to free its slot. */
  readonly makeRoom: () => void;
}

/** Shorter than the time after which a request without traffic counts as stalled. */
const turnMs = 2_000;
const checkMs = 500;

interface Turn {
  readonly until: number;
  readonly giveUp: (reason: unknown) => void;
}

/** Bounds the requests served at a time; the others wait in order. */
export class RequestSlots {
  readonly #bounds: SlotBounds;
  readonly #slots: Budget;
  /** Waiting requests in order of arrival. */
  readonly #turns = new Set<Turn>();
  #timer: NodeJS.Timeout | undefined;

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds;
    this.#slots = new Budget(bounds.served);
  }

  /**
   * @param bytes body bytes that the request holds while it waits
   * @returns a function that frees the slot, to be called at the end of the request or earlier
   * @throws S3Error SlowDown if too many requests or bytes wait, or this one has waited too long; the abort reason of
   *   `signal`
   */
  async enter(signal: AbortSignal, bytes = 0): Promise<() => void> {
    const slot = this.#slots.ask(1);
    if (slot.waits) await this.#turn(slot, signal, bytes);
    return () => slot.release();
  }

  async #turn(slot: Share, signal: AbortSignal, bytes: number): Promise<void> {
    const { promise: gaveUp, reject: giveUp } = Promise.withResolvers<never>();
    const turn = { until: performance.now() + turnMs, giveUp };
    const onAbort = () => giveUp(signal.reason);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    this.#turns.add(turn);
    const { waiting, memory } = this.#bounds;
    const held = memory.hold('waiting');
    if (this.#turns.size > waiting || !held.tryTake(bytes)) giveUp(s3Error('SlowDown'));
    this.#timer ??= setInterval(() => this.#check(), checkMs);
    try {
      await Promise.race([slot.granted, gaveUp]);
    } catch (error) {
      // the slot may have been granted at the same moment
      if (!slot.giveUp()) slot.release();
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#turns.delete(turn);
      held.release();
      if (this.#turns.size === 0) this.#timer = void clearInterval(this.#timer);
    }
  }

  /**
   * Ends one stalled request for each that waits, and refuses those that have waited too long. This runs on a timer
   * because in a burst slots become free all the time, and a request that waits for a slow store would be ended
   * needlessly.
   */
  #check(): void {
    const now = performance.now();
    for (const { until, giveUp } of this.#turns) {
      this.#bounds.makeRoom();
      if (until <= now) giveUp(s3Error('SlowDown'));
    }
  }
}
