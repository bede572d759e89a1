import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../runtime/logging/logger.ts';
import { RateLimitedLog } from '../../runtime/logging/rate-limited-log.ts';
import { bareHost } from '../../runtime/net/host-names.ts';
import type { ObjectsConfig } from '../config.ts';
import { S3Error } from '../s3/error.ts';
import { serializeQuery, upstreamPath } from '../s3/request.ts';
import { type ChunkSigningContext, RequestSigner } from '../s3/sigv4-sign.ts';
import type { CredentialSource } from './credentials.ts';
import { type BodyForm, bodyForm, framingHeaders, StreamedUpload } from './streamed-upload.ts';
import {
  reasonOf,
  type Upstream,
  type UpstreamRequest,
  type UpstreamResponse,
  type UpstreamUpload,
  unavailable,
} from './upstream.ts';
import {
  createConnector,
  storeLimits,
  type UpstreamConnector,
  type UpstreamExchange,
  type UpstreamLimits,
  type UpstreamRequestHead,
} from './upstream-exchange.ts';

export type UpstreamConfig = Pick<
  ObjectsConfig,
  'upstream' | 'region' | 'upstreamSigning' | 'upstreamChecksum'
>;

export interface UpstreamParts {
  readonly credentials: CredentialSource;
  /** PEM certificates trusted in place of Node's own. */
  readonly ca?: string | undefined;
  readonly limits?: Partial<UpstreamLimits>;
}

export function createUpstream(config: UpstreamConfig, log: Logger, parts: UpstreamParts): Upstream {
  const endpoint = endpointOf(config.upstream);
  const { host, port, secure } = endpoint;
  const target = { host, port, tls: secure ? { ca: parts.ca } : undefined };
  const connector = createConnector(target, { ...storeLimits, ...parts.limits });
  const composer = new RequestComposer(endpoint, config.region, parts.credentials);
  return new S3Upstream(connector, composer, bodyForm(config), log);
}

/** Body length from which the store is asked first, so that a refusal costs no transfer. */
const askFrom = 1024 * 1024;
const emptySha256 = hash('sha256', '', 'hex');
const noBody = new Uint8Array(0);

class S3Upstream implements Upstream {
  readonly #connector: UpstreamConnector;
  readonly #composer: RequestComposer;
  readonly #form: BodyForm;
  readonly #log: Logger;
  readonly #denials: Denials;

  constructor(connector: UpstreamConnector, composer: RequestComposer, form: BodyForm, log: Logger) {
    this.#connector = connector;
    this.#composer = composer;
    this.#form = form;
    this.#log = log;
    this.#denials = new Denials(log);
  }

  async send(request: UpstreamRequest, body: Uint8Array = noBody): Promise<UpstreamResponse> {
    const payload = body.length === 0 ? emptySha256 : hash('sha256', body, 'hex');
    const { head } = await this.#composer.compose(request, payload, lengthHeader(request.method, body));
    const exchange = this.#open(head, request, body);
    const report = reporter(this.#log, request);
    if (body.length > 0 || (request.method !== 'GET' && request.method !== 'HEAD'))
      return this.#received(request, exchange, report);
    await exchange.response.catch(() => undefined);
    if (!exchange.stale) return this.#received(request, exchange, report);
    await pause(request.signal);
    return this.#received(request, this.#open(head, request, body), report);
  }

  async upload(request: UpstreamRequest, length: number): Promise<UpstreamUpload> {
    const framing = {
      ...framingHeaders(this.#form, length),
      expect: length < askFrom ? undefined : '100-continue',
    };
    const { head, chunks } = await this.#composer.compose(request, this.#form.payload, framing);
    const exchange = await this.#openAsking(head, request);
    const failed = reporter(this.#log, request);
    const answer = () => this.#received(request, exchange, failed);
    return new StreamedUpload(exchange, { length, framing: this.#form.framing, chunks, answer, failed });
  }

  close(): void {
    this.#connector.close();
  }

  async #received(
    { method }: UpstreamRequest,
    exchange: UpstreamExchange,
    report: ReportFailure,
  ): Promise<UpstreamResponse> {
    const response = await received(exchange, method, report);
    this.#denials.note(method, response.status);
    return response;
  }

  #open(head: UpstreamRequestHead, { signal }: UpstreamRequest, body: Uint8Array): UpstreamExchange {
    return this.#connector.open(head, signal, body);
  }

  /** Detects that the store has closed a reused connection before the body is sent over it. */
  async #openAsking(head: UpstreamRequestHead, { signal }: UpstreamRequest): Promise<UpstreamExchange> {
    const exchange = this.#connector.open(head, signal);
    await exchange.agreed;
    if (!exchange.stale) return exchange;
    await pause(signal);
    const again = this.#connector.open(head, signal);
    await again.agreed;
    return again;
  }
}

/** Long enough for other connections closed by the store to be dropped; random, so that retries spread out. */
function pause(signal: AbortSignal | undefined): Promise<void> {
  return delay(5 + Math.random() * 45, undefined, signal && { signal });
}

/** A GET has no length header; a PUT without body has length 0. */
function lengthHeader(method: string, body: Uint8Array): Record<string, string> {
  if (body.length === 0 && method !== 'PUT' && method !== 'POST') return {};
  return { 'content-length': String(body.length) };
}

const lineAMinute = { burst: 1, everyMs: 60_000 };
const nextStep =
  "check the proxy's own credentials for the object store and what their policy grants; callers see the store's answer as it is";

/**
 * Reports that the store refused the proxy itself, because callers take such answers for their own fault; at most once
 * a minute, because a refusal may concern a single object only.
 */
export class Denials {
  readonly #log: RateLimitedLog;

  constructor(log: Logger) {
    this.#log = new RateLimitedLog(log, lineAMinute);
  }

  /** @param now milliseconds, from `performance.now()` */
  note(method: string, status: number, now?: number): void {
    if (status !== 401 && status !== 403) return;
    const fields = (leftOut: number) => ({ method, status, count: leftOut + 1, next: nextStep });
    this.#log.warn('upstream.denied', fields, now);
  }
}

/** Converts a connection failure to an S3Error and logs it once. */
export type ReportFailure = (error: unknown) => unknown;

export function reporter(log: Logger, { method, signal }: UpstreamRequest): ReportFailure {
  return (error) => {
    if (signal?.aborted) return signal.reason;
    if (!(error instanceof S3Error)) log.warn('upstream.failed', { method, error: reasonOf(error) });
    return unavailable(error);
  };
}

const redirects = new Set([301, 302, 303, 305, 307, 308]);

/**
 * Success statuses of S3 for reads and for other requests (202: a restore has begun). Callers would trust any other.
 */
const readSuccesses = new Set([200, 206]);
const successes = new Set([200, 202, 204]);

/**
 * Waits for the store's response. @throws the result of `report` for a failure; S3Error 500 for a redirect or a success
 * status that S3 does not have
 */
export async function received(
  exchange: UpstreamExchange,
  method: string,
  report: ReportFailure,
): Promise<UpstreamResponse> {
  const response = await exchange.response.catch((error) => {
    throw report(error);
  });
  const { status, headers } = response;
  if (redirects.has(status)) throw refuseRedirect(exchange, status, headers['x-amz-bucket-region']);
  const known = method === 'GET' || method === 'HEAD' ? readSuccesses : successes;
  if (status < 300 && !known.has(status)) throw refuseStatus(exchange, status);
  return response;
}

function refuseRedirect(exchange: UpstreamExchange, status: number, region: string | undefined): S3Error {
  exchange.reset(new Error('a redirect is not followed'));
  const place = region !== undefined && /^[a-z0-9-]{1,40}$/.test(region) ? ` (region ${region})` : '';
  const message = `The object store redirects to another endpoint${place}: the proxy's upstream or region must be set to it.`;
  return new S3Error('InternalError', 500, message, { details: { UpstreamStatus: String(status) } });
}

function refuseStatus(exchange: UpstreamExchange, status: number): S3Error {
  exchange.reset(new Error('a status that S3 does not have'));
  const message = `The object store answered with status ${status}, which S3 does not have.`;
  return new S3Error('InternalError', 500, message, { details: { UpstreamStatus: String(status) } });
}

type HeaderValues = Readonly<Record<string, string | undefined>>;

export interface Composed {
  readonly head: UpstreamRequestHead;
  /** State from which chunk signatures continue. */
  readonly chunks: ChunkSigningContext;
}

/** Builds requests to the store, signed with the proxy's credentials. */
export class RequestComposer {
  readonly #endpoint: StoreEndpoint;
  readonly #credentials: CredentialSource;
  readonly #signer: RequestSigner;

  constructor(endpoint: StoreEndpoint, region: string, credentials: CredentialSource) {
    this.#endpoint = endpoint;
    this.#credentials = credentials;
    this.#signer = new RequestSigner(region);
  }

  /**
   * @param payload value of `x-amz-content-sha256`
   * @param framing headers that state the length of the body
   */
  async compose(request: UpstreamRequest, payload: string, framing: HeaderValues): Promise<Composed> {
    const { method, bucket, key } = request;
    const path = this.#endpoint.path(bucket, key);
    const query = request.query === undefined ? '' : serializeQuery(request.query);
    const headers: Record<string, string> = {};
    addDefined(headers, request.headers);
    addDefined(headers, framing);
    headers['host'] = this.#endpoint.authority;
    const credentials = await this.#credentials();
    const signed = this.#signer.sign({ method, path, query, headers, payload }, credentials);
    const target = query === '' ? path : `${path}?${query}`;
    return { head: { method, target, headers: signed.headers }, chunks: signed.chunks };
  }
}

function addDefined(headers: Record<string, string>, values: HeaderValues | undefined): void {
  for (const name in values) {
    const value = values[name];
    if (value !== undefined) headers[name] = value;
  }
}

/** Address of the store, and how requests name it. */
export interface StoreEndpoint {
  readonly secure: boolean;
  /** Host to connect to; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Value of the `Host` header, without the scheme's default port. */
  readonly authority: string;
  /** Encoded path of the request line, below the base path. */
  path(bucket: string, key: string): string;
}

export function endpointOf(upstream: URL): StoreEndpoint {
  const secure = upstream.protocol === 'https:';
  const base = upstream.pathname.replace(/\/+$/, '');
  return {
    secure,
    host: bareHost(upstream),
    port: upstream.port === '' ? (secure ? 443 : 80) : Number(upstream.port),
    authority: upstream.host,
    path: (bucket, key) => base + upstreamPath(bucket, key),
  };
}
