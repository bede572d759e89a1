import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import tls from 'node:tls';
import { collect } from '../../core/collect.ts';
import { outliveAborts } from '../net/outlive-aborts.ts';
import { type ConnectRules, judgeAddresses } from './connect.ts';
import { RegistryError } from './errors.ts';

export interface WireRequest {
  readonly method: 'GET' | 'HEAD';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** A success with a longer body is refused. */
  readonly maxBytes: number;
  /** Ends it: the signal's reason is what `send` rejects with. */
  readonly signal: AbortSignal;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty of a redirect; of an error as much as is worth reading. */
  readonly body: Buffer;
}

/** HTTP to registries: connections are kept, few to each at a time, and every answer is bounded. */
export interface Wire {
  /** Any status is an answer; redirects are not followed. @throws RegistryError REGISTRY_UNAVAILABLE, REGISTRY_REFUSED */
  send(request: WireRequest): Promise<WireAnswer>;
  close(): void;
}

const timeLimitMs = 10_000;
const largestFailure = 16 * 1024;
const connections = {
  keepAlive: true,
  maxSockets: 8,
  maxTotalSockets: 64,
  maxFreeSockets: 2,
  timeout: 30_000,
};

export interface WireOptions extends ConnectRules {
  /** PEM: private ones that registries may have their certificates from, beside those that are known. */
  readonly authorities?: string | undefined;
}

export function createWire({ authorities, ...rules }: WireOptions): Wire {
  // once, not for each connection: the known ones are many
  const trusted = authorities && {
    secureContext: tls.createSecureContext({ ca: [...tls.getCACertificates(), authorities] }),
  };
  const agents = {
    'http:': judgeAddresses(outliveAborts(new http.Agent(connections)), rules),
    'https:': judgeAddresses(outliveAborts(new https.Agent({ ...connections, ...(trusted || {}) })), rules),
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

async function exchange(request: WireRequest, agents: Agents): Promise<WireAnswer> {
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

function head({ url, method, headers, signal }: WireRequest, agents: Agents): Promise<IncomingMessage> {
  const { protocol } = url;
  const { request } = protocol === 'https:' ? https : http;
  const agent = agents[protocol === 'https:' ? 'https:' : 'http:'];
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, agent, signal, headers: { 'user-agent': 'svc', ...headers } });
    outgoing.once('response', resolve);
    outgoing.on('error', reject);
    outgoing.end();
  });
}

function readWhole(incoming: IncomingMessage, { url, maxBytes }: WireRequest): Promise<Buffer> {
  const tooLong = () =>
    new RegistryError('REGISTRY_REFUSED', `${url.host} sends more than ${maxBytes} bytes of metadata`);
  return collect(incoming, maxBytes, tooLong);
}

/** Leaving the loop early closes the connection. */
async function readSome(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > largestFailure) break;
  }
  return Buffer.concat(chunks);
}

function explain(cause: unknown): string {
  const { code, message } = cause as { code?: unknown; message?: unknown };
  return typeof code === 'string' ? code : typeof message === 'string' ? message.slice(0, 100) : 'unknown';
}

/** What Node says of a certificate whose authority it does not know. */
const unknownAuthority = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]);

function stepFor(cause: unknown): string | undefined {
  if (!unknownAuthority.has(String((cause as { code?: unknown }).code))) return undefined;
  return 'Its certificate is of an authority that the operator does not know: give it that by operator.registryCA.';
}
