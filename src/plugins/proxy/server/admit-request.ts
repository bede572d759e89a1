import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Budget, type Share } from '../../../core/budget.ts';
import { type S3Error, s3Error } from '../../../core/s3/error.ts';
import { hasBody, type Payload } from '../../../core/s3/received-payload.ts';
import { hostName, parseCopySource, type S3Request } from '../../../core/s3/request.ts';
import {
  SignatureVerifier,
  type SignedRequest,
  type VerifiedSignature,
} from '../../../core/s3/sigv4-verify.ts';
import { isLoopback } from '../../../core/settings/setting.ts';
import type { ProxyConfig } from '../config.ts';

/**
 * Finds out whether a request may be served. Undefined for callers that are not authenticated.
 * @throws S3Error AccessDenied, SignatureDoesNotMatch … for everybody who does not hold the caller keys; where
 *   there are none, AccessDenied for what a browser may have been led to
 */
export type Authenticate = (request: SignedRequest) => VerifiedSignature | undefined;

export type CallerRules = Pick<ProxyConfig, 'callerKeys' | 'hosts'> & {
  readonly listen: Pick<ProxyConfig['listen'], 'host'>;
};

/**
 * Checks signatures, in the header and presigned, where the proxy has caller keys; else host and origin. Browsers ask
 * unsigned what they may send (OPTIONS); what they then send has to be signed.
 */
export function createAuthenticate(rules: CallerRules): Authenticate {
  const { callerKeys } = rules;
  if (callerKeys === undefined) return ({ headers }) => refuseForeign(headers, rules);
  const { accessKeyId, secretAccessKey } = callerKeys;
  const verifier = new SignatureVerifier((id) => (id === accessKeyId ? secretAccessKey : undefined));
  return (request) => (request.method === 'OPTIONS' ? refuseBody(request.headers) : verifier.verify(request));
}

/** What waits for a body is no preflight, and would wait at a caller's pleasure. */
function refuseBody(headers: IncomingHttpHeaders): undefined {
  if (hasBody(headers)) throw s3Error('InvalidRequest', 'A preflight has no body.');
}

/**
 * Whoever reaches the port may use it, and a browser on this machine reaches it for every page that it shows. A page whose
 * own name DNS leads here (rebinding) is told by `Host`, one that calls from elsewhere by `Origin` and `Sec-Fetch-Site`.
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
      'Browsers may call this proxy for pages of others only where callers are authenticated.',
    );
}

/** Rebinding needs a name: beyond loopback, addresses are as good as the one that is listened at. */
function isKnownHost(name: string, { listen, hosts }: CallerRules): boolean {
  if (isLoopback(name) || name.endsWith('.localhost') || hosts.includes(name)) return true;
  return !isLoopback(listen.host) && (name === listen.host || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0);
}

/**
 * Refuses heads that a server before or behind this one could read otherwise, and that `node:http` lets pass.
 * @throws S3Error InvalidRequest for other versions than HTTP/1.x, the one without a name included, for several `Host`
 *   headers, and for names such as `x-amz-copy_source`, which some stores take for `x-amz-copy-source`
 */
export function refuseAmbiguous({
  httpVersionMajor,
  rawHeaders,
}: Pick<IncomingMessage, 'httpVersionMajor' | 'rawHeaders'>): void {
  if (httpVersionMajor !== 1) throw s3Error('InvalidRequest', 'Only HTTP/1.0 and HTTP/1.1 are served.');
  if (hosts(rawHeaders) > 1) throw s3Error('InvalidRequest', 'The request has more than one Host header.');
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (ofS3.test(name) && !plain.test(name))
      throw s3Error('InvalidRequest', `The header ${name.slice(0, 100)} could be taken for another one.`);
  }
}

const ofS3 = /^x-amz-/i;

/** User metadata may have any name; what of it could be taken for the proxy's own is left out later. */
const plain = /^x-amz-(?:[a-z0-9-]+|meta-.*)$/i;

/** Names and values stand in turn. */
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
 * Whether a key is one of the proxy's own. Empty segments are left out first, because
 * stores over a file system take `/.svc//x` for `.svc/x`.
 */
export function isReservedKey(key: string, reservedPrefix: string): boolean {
  if (key === '' || !key.includes(reservedPrefix.slice(0, -1))) return false;
  const plain = key.split('/').filter((segment) => segment !== '');
  return `${plain.join('/')}/`.startsWith(reservedPrefix);
}

/** @throws S3Error AccessDenied when the request names, as target or as copy source, what is the proxy's own */
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

/** Bodies up to this size are bounded by the number of requests in progress, in bytes. */
const smallBody = 16 * 1024;

/** Bounds the bodies that are held in memory as a whole (part lists, multi-deletes, configurations), over all requests. */
export class BodyBudget {
  #left: number;

  /** @param bytes as they come from the caller; what is made of them takes several times as much */
  constructor(bytes: number) {
    this.#left = bytes;
  }

  /**
   * The same payload, whose `read` takes its room before the first byte is read, and keeps it until `release`.
   * @returns `release` may be called at any time
   */
  bounded(payload: Payload): { readonly payload: Payload; readonly release: () => void } {
    let held = 0;
    const read = (limit: number) => {
      const bytes = Math.min(payload.length ?? limit, limit);
      if (bytes > smallBody) held += this.#take(bytes);
      return payload.read(limit);
    };
    const release = () => {
      this.#left += held;
      held = 0;
    };
    return { payload: { ...payload, read }, release };
  }

  #take(bytes: number): number {
    if (bytes > this.#left) throw s3Error('SlowDown');
    this.#left -= bytes;
    return bytes;
  }
}

export interface SlotBounds {
  /** Requests that are served at a time. */
  readonly served: number;
  /** Requests that wait for their turn. */
  readonly waiting: number;
  /** What these hold of their bodies. */
  readonly waitingBytes: number;
  /** Ends a request that stands still, if there is one, which then leaves its slot. */
  readonly makeRoom: () => void;
}

/** Shorter than the time after which a request without a byte counts as one that stands still. */
const turnMs = 2_000;
const checkMs = 500;

interface Turn {
  readonly until: number;
  readonly giveUp: (reason: unknown) => void;
}

/** Bounds the requests of callers that are served at a time. The others wait for their turn, in order. */
export class RequestSlots {
  readonly #bounds: SlotBounds;
  readonly #slots: Budget;
  /** Of those that wait, in the order in which they came. */
  readonly #turns = new Set<Turn>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds;
    this.#slots = new Budget(bounds.served);
  }

  /**
   * @param bytes what it holds while it waits
   * @returns to be called at the end of the request, or before
   * @throws S3Error SlowDown where too many wait, or too much, or it has waited too long; why `signal` was aborted
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
    this.#bytes += bytes;
    const { waiting, waitingBytes } = this.#bounds;
    if (this.#turns.size > waiting || this.#bytes > waitingBytes) giveUp(s3Error('SlowDown'));
    this.#timer ??= setInterval(() => this.#check(), checkMs);
    try {
      await Promise.race([slot.granted, gaveUp]);
    } catch (error) {
      // its turn may have come at the same moment
      if (!slot.giveUp()) slot.release();
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#turns.delete(turn);
      this.#bytes -= bytes;
      if (this.#turns.size === 0) this.#timer = void clearInterval(this.#timer);
    }
  }

  /**
   * One request is ended for each that waits, and those that have waited too long are refused. Not as soon as one waits: in
   * a burst places come free all the time, and a request that the store takes long for would be ended for nothing.
   */
  #check(): void {
    const now = performance.now();
    for (const { until, giveUp } of this.#turns) {
      this.#bounds.makeRoom();
      if (until <= now) giveUp(s3Error('SlowDown'));
    }
  }
}

/** What one request holds of the room for answers of the store. */
export interface HeldResponses {
  /** Resolves when the store may be asked. @throws S3Error SlowDown where that takes too long; why `signal` was aborted */
  begin(): Promise<void>;
  /** Resolves when so many bytes more may be held. @throws S3Error SlowDown where that takes too long; why `signal` was aborted */
  take(bytes: number): Promise<void>;
  /** Safe to call at any time. */
  release(): void;
}

/** Answers up to this size are bounded by their number, in bytes. */
const smallAnswer = 32 * 1024;
/** Answers at a time: the kernel holds a part of each, too, before it is read. */
const atOnce = 16;
const patienceMs = 20_000;

interface Hold {
  bytes: number;
}

/**
 * Bounds the answers of the store that are held in memory as a whole (listings, results of deletions), over all requests.
 * The request that has waited for the longest goes on whatever the bound is, so that one of them always comes to its end.
 */
export class ResponseMemory {
  readonly #bytes: number;
  /** In the order in which they began. */
  readonly #holds = new Set<Hold>();
  #used = 0;
  #freed = Promise.withResolvers<void>();

  /** @param bytes as they come from the store; what is made of them takes several times as much */
  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  hold(signal: AbortSignal): HeldResponses {
    const hold = { bytes: -smallAnswer };
    return {
      begin: async () => {
        await this.#until(() => this.#holds.size < atOnce || this.#holds.has(hold), signal);
        this.#holds.add(hold);
      },
      take: (bytes) => this.#take(hold, bytes, signal),
      release: () => {
        if (!this.#holds.delete(hold)) return;
        this.#used -= Math.max(0, hold.bytes);
        this.#freed.resolve();
        this.#freed = Promise.withResolvers();
      },
    };
  }

  async #take(hold: Hold, bytes: number, signal: AbortSignal): Promise<void> {
    const more = Math.max(0, hold.bytes + bytes) - Math.max(0, hold.bytes);
    const isFree = () => this.#used + more <= this.#bytes || this.#holds.values().next().value === hold;
    if (more > 0) await this.#until(isFree, signal);
    this.#used += more;
    hold.bytes += bytes;
  }

  async #until(isFree: () => boolean, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + patienceMs;
    while (!isFree()) {
      const left = deadline - performance.now();
      if (left <= 0) throw s3Error('SlowDown');
      const woken = new AbortController();
      const timer = sleep(left, undefined, { signal: AbortSignal.any([signal, woken.signal]) });
      await Promise.race([this.#freed.promise, timer.catch(() => undefined)]);
      woken.abort();
      signal.throwIfAborted();
    }
  }
}
