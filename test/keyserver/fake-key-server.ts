import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { connectionDefaults, type VaultConnectionSettings } from '../../src/keyserver/connection.ts';

export interface SeenRequest {
  readonly method: string;
  /** Path and query below `/v1/`. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests pick requests apart freely
  readonly json: any;
  readonly socket: Socket;
}

export interface KeyServerReply {
  readonly status: number;
  readonly json?: unknown;
}

/** Answers with status and JSON, or takes the response over by answering undefined. */
export type Handler = (
  request: SeenRequest,
  response: ServerResponse,
) => KeyServerReply | undefined | Promise<KeyServerReply | undefined>;

export interface FakeKeyServer {
  readonly url: URL;
  readonly seen: SeenRequest[];
  /** Requests whose path begins so. */
  to(path: string): SeenRequest[];
  handler: Handler;
  stop(): Promise<void>;
}

/** A key server in this process that does what a test tells it. */
export async function fakeKeyServer(handler: Handler, tls?: ServerOptions): Promise<FakeKeyServer> {
  const seen: SeenRequest[] = [];
  const listener = (incoming: IncomingMessage, response: ServerResponse) =>
    answer(incoming, response, seen, (...parameters) => fake.handler(...parameters));
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const fake: FakeKeyServer = {
    url: new URL(`${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`),
    seen,
    to: (path) => seen.filter((request) => request.path.startsWith(path)),
    handler,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return fake;
}

async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  seen: SeenRequest[],
  handler: Handler,
) {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const request: SeenRequest = {
    method: incoming.method ?? '',
    path: (incoming.url ?? '').replace(/^.*?\/v1\//, ''),
    headers: incoming.headers,
    json: text === '' ? undefined : JSON.parse(text),
    socket: incoming.socket,
  };
  seen.push(request);
  const result = await handler(request, response);
  if (result === undefined) return;
  response.writeHead(result.status, { 'content-type': 'application/json' });
  response.end(result.json === undefined ? undefined : JSON.stringify(result.json));
}

/** A connection to it with the given differences from the defaults. */
export function connectionTo(
  url: URL,
  changes: Partial<VaultConnectionSettings> = {},
): VaultConnectionSettings {
  return {
    ...connectionDefaults,
    address: url,
    namespace: undefined,
    userAgent: 'svc-test/1',
    tls: { caFiles: [], caPath: undefined, client: undefined },
    skipVerify: false,
    followStandby: true,
    ...changes,
  };
}
