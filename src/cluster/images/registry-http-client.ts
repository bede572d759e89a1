import type { IncomingHttpHeaders } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import tls from 'node:tls';
import { CollectedBytes, collect } from '../../runtime/bounds/collect.ts';
import { exitStatus, SvcError } from '../../runtime/errors.ts';
import { bareHost } from '../../runtime/net/host-names.ts';
import { type ConnectionRules, createAgent } from '../../runtime/net/http-client/agent.ts';
import {
  type HttpRequest,
  RequestError,
  sendRequest,
  withinTime,
} from '../../runtime/net/http-client/send-request.ts';
import { tlsClientLimits } from '../../runtime/net/tls-limits.ts';
import { mayBeRegistry } from './registry-access.ts';
import { createRegistryLookup, type Lookup } from './registry-lookup.ts';

export interface RegistryHttpRequest {
  readonly method: 'GET' | 'HEAD';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** A success with a longer body is rejected. */
  readonly maxBytes: number;
  /** Aborts the request: `send` rejects with its reason. */
  readonly signal: AbortSignal;
}

export interface RegistryHttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty for a redirect; truncated for an error. */
  readonly body: Buffer;
}

/** An HTTP client for registries, with few kept connections to each and bounded responses. */
export interface RegistryHttpClient {
  /**
   * Resolves with any status; redirects are not followed. @throws RegistryError REGISTRY_UNAVAILABLE, REGISTRY_REFUSED
   */
  send(request: RegistryHttpRequest): Promise<RegistryHttpResponse>;
  close(): void;
}

const timeLimitMs = 10_000;
const maxFailureBytes = 16 * 1024;
/** Further requests wait in their order, whoever sends them. */
export const maxSocketsOfHost = 16;
const connections = {
  keepAlive: true,
  maxSockets: maxSocketsOfHost,
  maxTotalSockets: 128,
  maxFreeSockets: 2,
  timeout: 30_000,
};

export interface WireOptions extends ConnectRules {
  /** PEM: private CAs of registries, in addition to public ones. */
  readonly authorities?: string | undefined;
}

export function createRegistryHttpClient({ authorities, ...rules }: WireOptions): RegistryHttpClient {
  // once instead of for each connection, because there are many public CAs
  const secureContext = tls.createSecureContext({
    ...tlsClientLimits,
    ...(authorities && { ca: [...tls.getCACertificates(), authorities] }),
  });
  const connecting = { lookup: judgedLookup(rules), boundsTlsRecords: true };
  const agents = {
    'http:': createAgent('http:', connections, connecting),
    'https:': createAgent('https:', { ...connections, secureContext }, connecting),
  };
  return {
    async send({ maxBytes, signal, ...request }) {
      const agent = agents[request.url.protocol === 'https:' ? 'https:' : 'http:'];
      try {
        return await withinTime({ timeoutMs: timeLimitMs, signal }, (within) =>
          exchange({ ...request, agent, signal: within }, maxBytes),
        );
      } catch (cause) {
        if (signal.aborted) throw signal.reason;
        throw cause instanceof RegistryError ? cause : unavailable(request.url, cause);
      }
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

async function exchange(request: HttpRequest, maxBytes: number): Promise<RegistryHttpResponse> {
  const { status, headers, incoming, body } = await sendRequest(request);
  if (status >= 300 && status < 400) {
    incoming.destroy();
    return { status, headers, body: Buffer.alloc(0) };
  }
  if (status < 200 || status >= 300) return { status, headers, body: await readSome(body) };
  const tooLong = () =>
    new RegistryError(
      'REGISTRY_REFUSED',
      `${request.url.host} sends more than ${maxBytes} bytes of metadata`,
    );
  return { status, headers, body: await collect(body, maxBytes, tooLong) };
}

/** Leaving the loop early closes the connection. */
async function readSome(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const collected = new CollectedBytes();
  for await (const chunk of body) {
    collected.add(chunk);
    if (collected.size > maxFailureBytes) break;
  }
  return collected.take();
}

function unavailable({ host }: URL, cause: unknown): RegistryError {
  const isLate = cause instanceof RequestError && cause.kind === 'timeout';
  const reason = isLate ? `no complete answer within ${timeLimitMs / 1_000} s` : explain(cause);
  const nextStep = stepFor(cause);
  return new RegistryError('REGISTRY_UNAVAILABLE', `${host} does not answer (${reason})`, {
    cause,
    nextStep,
  });
}

function explain(cause: unknown): string {
  const { code, message } = cause as { code?: unknown; message?: unknown };
  return typeof code === 'string' ? code : typeof message === 'string' ? message.slice(0, 100) : 'unknown';
}

/** Node's codes for a certificate from an unknown CA. */
const unknownAuthority = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]);

function stepFor(cause: unknown): string | undefined {
  if (!unknownAuthority.has(String((cause as { code?: unknown }).code))) return undefined;
  return 'Its certificate is from a CA that the operator does not trust: add the CA with operator.registryCA.';
}

/**
 * `REGISTRY_UNAVAILABLE`: may be temporary; `REGISTRY_DENIED`: these credentials do not suffice; `REGISTRY_MISSING`:
 * there is no such image, or it is hidden; `REGISTRY_REFUSED`: the response is unusable, now and later.
 */
export type RegistryErrorCode =
  | 'REGISTRY_UNAVAILABLE'
  | 'REGISTRY_DENIED'
  | 'REGISTRY_MISSING'
  | 'REGISTRY_REFUSED';

const steps: Readonly<Record<RegistryErrorCode, string>> = {
  REGISTRY_UNAVAILABLE: 'Check that the registry can be reached from the operator, and try again.',
  REGISTRY_DENIED:
    'Give the pod or its service account a valid pull secret for this registry, or the operator credentials of its own (operator.registryCredentials): it does not use those of the nodes.',
  REGISTRY_MISSING:
    'Check the name and tag, and that the pull secret of the pod, or of the operator, may read it.',
  REGISTRY_REFUSED: 'Set what the container runs: command in the pod, or the annotation svc/command.',
};

interface RegistryErrorOptions {
  readonly retryAfterMs?: number | undefined;
  readonly nextStep?: string | undefined;
  /** See `RegistryError.told`. Default: false. */
  readonly told?: boolean;
  readonly cause?: unknown;
}

/** Why a registry did not provide the information; the message is a clause without a full stop. */
export class RegistryError extends SvcError {
  declare readonly code: RegistryErrorCode;
  /** The registry asks to wait this long. */
  readonly retryAfterMs: number | undefined;
  /** Whether the message may be shown to anyone, because it reveals nothing of a peer that may not be a registry. */
  readonly told: boolean;

  constructor(code: RegistryErrorCode, message: string, options: RegistryErrorOptions = {}) {
    const { retryAfterMs, nextStep = steps[code], told = false, cause } = options;
    super(code, message, { nextStep, exitStatus: exitStatus.unavailable, cause });
    this.retryAfterMs = retryAfterMs;
    this.told = told;
  }
}

export function hasCode(error: unknown, ...codes: readonly RegistryErrorCode[]): error is RegistryError {
  return error instanceof RegistryError && codes.includes(error.code);
}

export interface ConnectRules {
  /** Whether registries on loopback are allowed. */
  readonly local: boolean;
  /** Places in the form of `placeOf` whose addresses are not checked. */
  readonly trusted?: ReadonlySet<string> | undefined;
  readonly lookup?: Lookup;
}

/**
 * Allows only addresses that a registry may have. Each connection's address is checked as it is resolved, so DNS
 * rebinding gains nothing.
 */
export function judgedLookup(rules: ConnectRules): NonNullable<ConnectionRules['lookup']> {
  // once instead of for each connection, because it reads the machine's search domains
  const within = lookupWithin(rules);
  return (host, port) => {
    if (rules.trusted?.has(`${host}:${port}`)) return undefined;
    if (isIP(host) === 0) return within;
    return mayBeRegistry(host, rules) ? undefined : unsuitable(host);
  };
}

/** Host and port of a URL, without brackets. */
export function placeOf(url: URL): string {
  return `${bareHost(url)}:${url.port || (url.protocol === 'http:' ? '80' : '443')}`;
}

/** Rejects a name with even one forbidden address. */
function lookupWithin(rules: ConnectRules): LookupFunction {
  const ask = rules.lookup ?? createRegistryLookup();
  return (host, options, done) => {
    ask(host, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, '', 0);
      const [first] = addresses;
      const wrong = addresses.find(({ address }) => !mayBeRegistry(address, rules));
      if (wrong !== undefined || first === undefined) return done(unsuitable(host), '', 0);
      // with `all`, Node tries one address after another
      if (options.all) return done(null, addresses);
      return done(null, first.address, first.family);
    });
  };
}

function unsuitable(host: string): NodeJS.ErrnoException {
  const error: NodeJS.ErrnoException = new Error(`${host} has an address that a registry cannot have`);
  error.code = 'ADDRESS_REFUSED';
  return error;
}
