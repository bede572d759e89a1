import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { HttpAnswer } from './types.ts';

export interface HttpCall {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** PEM of the CA to trust. */
  readonly ca?: string | undefined;
  /** Bound in ms, default 30 000. */
  readonly timeoutMs?: number;
}

/** One request on a connection of its own; any status is an answer. */
export function http(url: string, call: HttpCall = {}): Promise<HttpAnswer> {
  const secure = url.startsWith('https:');
  const send = secure ? httpsRequest : httpRequest;
  const agent = secure ? new HttpsAgent({ ca: call.ca }) : new HttpAgent();
  const { method = 'GET', headers = {}, timeoutMs = 30_000 } = call;
  return new Promise((resolve, reject) => {
    const request = send(
      url,
      { method, headers, agent, signal: AbortSignal.timeout(timeoutMs) },
      (response) => {
        read(response).then(resolve, reject);
      },
    );
    request.once('error', reject);
    request.end(call.body);
  });
}

async function read(response: IncomingMessage): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return { status: response.statusCode ?? 0, text, json: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
