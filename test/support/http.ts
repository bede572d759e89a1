import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Identity } from './certificates.ts';
import type { HttpResult } from './types.ts';

export interface HttpCall {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** PEM of the CA to trust. */
  readonly ca?: string | undefined;
  /** What the caller shows of itself. */
  readonly identity?: Identity;
  /** Keeps connections for further calls, in place of `ca` and `identity`; default: a connection of its own. */
  readonly agent?: HttpsAgent;
  /** Bound in ms, default 30 000. */
  readonly timeoutMs?: number;
}

/** One request; any status is an answer. */
export function http(url: string, call: HttpCall = {}): Promise<HttpResult> {
  const secure = url.startsWith('https:');
  const send = secure ? httpsRequest : httpRequest;
  const own = () => (secure ? new HttpsAgent({ ca: call.ca, ...call.identity }) : new HttpAgent());
  const agent = call.agent ?? own();
  const { method = 'GET', body, timeoutMs = 30_000 } = call;
  // Node tells no length of what DELETE sends, which a server takes for the next request on a kept connection
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const headers = { ...length, ...call.headers };
  return new Promise((resolve, reject) => {
    const request = send(
      url,
      { method, headers, agent, signal: AbortSignal.timeout(timeoutMs) },
      (response) => {
        read(response).then(resolve, reject);
      },
    );
    request.once('error', reject);
    request.end(body);
  });
}

async function read(response: IncomingMessage): Promise<HttpResult> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return { status: response.statusCode ?? 0, headers: response.headers, text, json: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
