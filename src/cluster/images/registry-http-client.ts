import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import tls from 'node:tls';
import { CollectedBytes, collect } from '../../runtime/bounds/collect.ts';
import { exitStatus, SvcError } from '../../runtime/errors.ts';
import { outliveAborts, serverNameOf } from '../../runtime/net/connections.ts';
import { limitAnswer } from '../../runtime/net/limit-answer.ts';
import { tlsClientLimits } from '../../runtime/net/tls-limits.ts';
import { GatedHttpsAgent } from '../../runtime/net/tls-record-gate.ts';
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
const largestFailure = 16 * 1024;
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
  const agents = {
    'http:': judgeAddresses(outliveAborts(new http.Agent(connections)), rules),
    'https:': judgeAddresses(outliveAborts(new GatedHttpsAgent({ ...connections, secureContext })), rules),
  };
  return {
    async send(request) {
      request.signal.throwIfAborted();
      const { host } = request.url;
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), timeLimitMs);
      const signal = AbortSignal.any([request.signal, late.signal]);
      try {
        return await exchange({ ...request, signal }, agents);
      } catch (cause) {
        if (request.signal.aborted) throw request.signal.reason;
        if (cause instanceof RegistryError) throw cause;
        const reason = late.signal.aborted
          ? `no complete answer within ${timeLimitMs / 1_000} s`
          : explain(cause);
        throw new RegistryError('REGISTRY_UNAVAILABLE', `${host} does not answer (${reason})`, {
          ...{ cause, nextStep: stepFor(cause) },
        });
      } finally {
        clearTimeout(timer);
      }
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

type Agents = Readonly<Record<'http:' | 'https:', http.Agent>>;

async function exchange(request: RegistryHttpRequest, agents: Agents): Promise<RegistryHttpResponse> {
  const incoming = await head(request, agents);
  const status = incoming.statusCode ?? 0;
  const { headers } = incoming;
  if (status >= 300 && status < 400) {
    incoming.destroy();
    return { status, headers, body: Buffer.alloc(0) };
  }
  const isSuccess = status >= 200 && status < 300;
  const body = isSuccess ? await readWhole(incoming, request) : await readSome(incoming);
  return { status, headers, body };
}

function head(
  { url, method, headers, signal }: RegistryHttpRequest,
  agents: Agents,
): Promise<IncomingMessage> {
  const { protocol } = url;
  const { request } = protocol === 'https:' ? https : http;
  const agent = agents[protocol === 'https:' ? 'https:' : 'http:'];
  return new Promise((resolve, reject) => {
    const common = { method, agent, signal, headers: { 'user-agent': 'svc', ...headers } };
    const options = { ...common, servername: serverNameOf(bareHost(url)) };
    const outgoing = limitAnswer(request(url, options));
    outgoing.once('response', resolve);
    outgoing.on('error', reject);
    outgoing.end();
  });
}

function readWhole(incoming: IncomingMessage, { url, maxBytes }: RegistryHttpRequest): Promise<Buffer> {
  const tooLong = () =>
    new RegistryError('REGISTRY_REFUSED', `${url.host} sends more than ${maxBytes} bytes of metadata`);
  return collect(incoming, maxBytes, tooLong);
}

/** Leaving the loop early closes the connection. */
async function readSome(incoming: IncomingMessage): Promise<Buffer> {
  const collected = new CollectedBytes();
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    collected.add(chunk);
    if (collected.size > largestFailure) break;
  }
  return collected.take();
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

type Options = http.ClientRequestArgs & { readonly lookup?: LookupFunction };
type Connect = (options: Options, created: (error: Error) => void) => Socket | undefined;

/**
 * Connects only to addresses that a registry may have. Each connection's address is checked as it is resolved, so DNS
 * rebinding gains nothing.
 */
export function judgeAddresses<T extends http.Agent>(agent: T, rules: ConnectRules): T {
  const connect = agent.createConnection.bind(agent) as unknown as Connect;
  const judged: Connect = (options, created) => {
    const host = options.host ?? 'localhost';
    if (rules.trusted?.has(`${host}:${options.port}`)) return connect(options, created);
    if (isIP(host) === 0 || mayBeRegistry(host, rules))
      return connect({ ...options, lookup: judgedLookup(rules) }, created);
    // a throw would end the process if the request had waited for another one
    created(unsuitable(host));
    return undefined;
  };
  agent.createConnection = judged as unknown as typeof agent.createConnection;
  return agent;
}

/** Host and port of a URL, without brackets. */
export function placeOf(url: URL): string {
  return `${bareHost(url)}:${url.port || (url.protocol === 'http:' ? '80' : '443')}`;
}

const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** Rejects a name with even one forbidden address. */
function judgedLookup(rules: ConnectRules): LookupFunction {
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
