import {
  Agent,
  createServer,
  request as forward,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { resetSocket } from '../../src/runtime/net/accepted-sockets.ts';
import type { Identity } from './certificates.ts';
import { listen } from './loopback.ts';
import type { LoggedRequest, RequestLog } from './types.ts';

/**
 * Starts an HTTP relay in front of `target` (plain HTTP) that writes down each request. Headers pass as they
 * are, so signatures hold. A cut on one side is a reset on the other.
 * @param identity with which callers are served over TLS; default: plain HTTP for them, too
 */
export async function startRequestLog(target: string, identity?: Identity): Promise<RequestLog> {
  const { hostname, port } = new URL(target);
  const agent = new Agent({ keepAlive: true });
  const requests: LoggedRequest[] = [];
  const relay = (request: IncomingMessage, response: ServerResponse) => {
    const entry = note(request);
    requests.push(entry);
    const { method, url: path, rawHeaders: headers } = request;
    const upstream = forward({ host: hostname, port, agent, method, path, headers, setHost: false });
    upstream.on('continue', () => response.writeContinue());
    upstream.once('error', () => resetSocket(request.socket));
    let answer: IncomingMessage | undefined;
    upstream.once('response', (begun) => {
      answer = begun;
      passBack(begun, response, entry);
    });
    request.on('data', (chunk: Buffer) => {
      entry.requestBytes += chunk.length;
    });
    response.once('close', () => {
      // the connection of an answer that has all come is another request's by now
      if (!response.writableFinished && !answer?.complete && upstream.socket) resetSocket(upstream.socket);
    });
    if (request.headers.expect) upstream.flushHeaders();
    pipeline(request, upstream).catch(() => undefined);
  };
  // what has long been idle is not closed while the next request is on its way
  const options = { requestTimeout: 0, keepAliveTimeout: 0 };
  const server = identity
    ? createTlsServer({ ...options, ...identity }, relay)
    : createServer(options, relay);
  const own = await listen(server.on('checkContinue', relay));
  return {
    ...{ port: own.port, url: own.url },
    requests,
    clear: () => void requests.splice(0),
    matching: (method, path) => requests.filter((entry) => entry.method === method && path.test(entry.path)),
    fetchedBytes: () => requests.reduce((sum, { responseBytes }) => sum + responseBytes, 0),
    async stop() {
      agent.destroy();
      await own.stop();
    },
  };
}

function note(request: IncomingMessage): LoggedRequest {
  const { method = '', url: path = '', headers: requestHeaders } = request;
  return {
    at: Date.now(),
    method,
    path,
    requestHeaders,
    status: 0,
    requestBytes: 0,
    responseBytes: 0,
    done: false,
  };
}

async function passBack(
  answer: IncomingMessage,
  response: ServerResponse,
  entry: LoggedRequest,
): Promise<void> {
  entry.status = answer.statusCode ?? 0;
  answer.on('data', (chunk: Buffer) => {
    entry.responseBytes += chunk.length;
  });
  response.sendDate = false;
  response.writeHead(entry.status, answer.statusMessage, answer.rawHeaders);
  try {
    await pipeline(answer, response);
    entry.done = true;
  } catch {
    if (response.socket) resetSocket(response.socket);
  }
}
