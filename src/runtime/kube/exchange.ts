import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { KubeRequest } from './client.ts';
import type { KubeConnection, KubeCredentials } from './connection.ts';
import { KubeError } from './errors.ts';

/** Sends one request and resolves with the head of the answer, whatever its status. @throws KubeError KUBE_UNAVAILABLE */
export function exchange(
  { server }: KubeConnection,
  { headers, agent }: KubeCredentials,
  request: KubeRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const send = server.protocol === 'https:' ? https.request : http.request;
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  const { method = 'GET' } = request;
  return new Promise((resolve, reject) => {
    const outgoing = send(addressOf(server, request), {
      ...{ method, agent, signal },
      headers: { ...headersFor(request, body), ...headers },
    });
    outgoing.once('response', resolve);
    outgoing.on('error', (cause) => reject(signal.aborted ? signal.reason : unreachable(server, cause)));
    outgoing.end(body);
  });
}

function addressOf(server: URL, { path, query = {} }: KubeRequest): URL {
  const url = new URL(server);
  url.pathname = server.pathname.replace(/\/+$/, '') + path;
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

function headersFor(request: KubeRequest, body: string | undefined): http.OutgoingHttpHeaders {
  const { accept = 'application/json', contentType = 'application/json' } = request;
  const common = { accept, 'user-agent': 'svc' };
  if (body === undefined) return common;
  return { ...common, 'content-type': contentType, 'content-length': Buffer.byteLength(body) };
}

export function unreachable(server: URL, cause: unknown): KubeError {
  return new KubeError('KUBE_UNAVAILABLE', `The API server ${server.origin} does not answer`, { cause });
}
