import type { Agent } from 'node:http';
import { parseBounded } from '../runtime/bounds/bounded-json.ts';
import { createWipedMemory } from '../runtime/memory.ts';
import { lookupOf } from '../runtime/net/host-names.ts';
import { createAgent } from '../runtime/net/http-client/agent.ts';
import {
  type HttpResponse,
  RequestError,
  sendRequest,
  withinTime,
} from '../runtime/net/http-client/send-request.ts';
import { retryAfter } from '../runtime/net/retry-after.ts';
import type { TlsContext, VaultConnectionSettings } from './connection.ts';
import { type Answered, VaultError } from './contract.ts';
import { SecretBuffer } from './secret-buffer.ts';
import { noAnswer, noneInTime } from './secret-client/secret-socket.ts';

/** Milliseconds after which idle connections are closed, so that changed certificates take effect. */
const idleMs = 30_000;
const memory = createWipedMemory();

/** Keeps a bounded number of connections. */
export function createJsonHttpClient(
  { maxSockets, skipVerify, connectTimeoutMs, maxAnswerBytes }: VaultConnectionSettings,
  tls: TlsContext | undefined,
): JsonHttpClient {
  const kept = { keepAlive: true, maxSockets, scheduling: 'lifo', timeout: idleMs } as const;
  const trust = { maxCachedSessions: 0, rejectUnauthorized: !skipVerify };
  const secureContext = tls && (() => tls.current());
  const agent = createAgent(
    tls === undefined ? 'http:' : 'https:',
    { ...kept, ...trust },
    { lookup: lookupOf, secureContext, connectTimeoutMs },
  );
  return {
    async exchange(request) {
      // an answer may contain tokens
      const body = new SecretBuffer(memory);
      try {
        return await withinTime(request, (signal) =>
          exchange({ ...request, signal }, agent, body, maxAnswerBytes),
        );
      } catch (error) {
        throw error instanceof RequestError ? unanswered(request.origin, error) : error;
      } finally {
        body.release();
      }
    },
    close: () => agent.destroy(),
  };
}

async function exchange(
  { origin: url, ...request }: JsonHttpRequest & { readonly signal: AbortSignal },
  agent: Agent,
  body: SecretBuffer,
  maxBytes: number,
): Promise<JsonHttpResponse> {
  const { status, headers, eachPiece } = await sendRequest({ ...request, url, agent });
  await eachPiece((piece) => {
    if (body.bytes.length + piece.length > maxBytes)
      throw new Error(`the answer is larger than ${maxBytes} bytes`);
    body.append(piece);
    piece.fill(0);
  });
  const { location, 'retry-after': header } = headers;
  try {
    return { status, body: parse(status, headers, body.bytes), location, ...retryAfter(header) };
  } catch {
    throw new VaultError('unavailable', `${url.host} answered ${status} with a body that is not JSON`, {
      status,
    });
  }
}

/** Values and names, as in a list of every path of a large mount. */
const maxParts = 200_000;

function parse(status: number, headers: HttpResponse['headers'], bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  const isJson = /^application\/json\b/i.test(headers['content-type'] ?? '');
  if (status >= 300 && !isJson) return undefined;
  if (!isJson) throw new TypeError('another content type');
  return parseBounded(bytes, { maxParts });
}

const unanswered = ({ host }: URL, { kind, code, message, cause }: RequestError): VaultError =>
  kind === 'timeout' ? noneInTime(host, message) : noAnswer(host, code ?? message, cause);

export interface JsonHttpRequest {
  readonly method: string;
  /** Scheme, host and port; its path is not used. */
  readonly origin: URL;
  /** Encoded path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
}

export interface JsonHttpResponse extends Answered {
  /** Parsed JSON; undefined for an empty body and, with a status of 300 or more, for a body of another type. */
  readonly body: unknown;
  readonly location: string | undefined;
}

/** JSON exchanges over kept connections, limited in time and size. Redirects are returned, not followed. */
export interface JsonHttpClient {
  /** @throws VaultError of kind `unavailable`; the signal's reason when aborted */
  exchange(request: JsonHttpRequest): Promise<JsonHttpResponse>;
  close(): void;
}
