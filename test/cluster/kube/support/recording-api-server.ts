import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Identity } from '../../../support/certificates.ts';
import { listen } from '../../../support/loopback.ts';
import type { Stoppable } from '../../../support/types.ts';

/** An API server with nothing in it, which keeps who each request said that it came from. */
export interface RecordingApiServer extends Stoppable {
  readonly url: string;
  readonly port: number;
  /** Headers that say who asks, a line for each request. */
  readonly callers: string[];
  /** Answers in place of the server where it returns true. */
  answer: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** @param identity undefined: without TLS */
export async function startRecordingApiServer(identity?: Identity): Promise<RecordingApiServer> {
  const callers: string[] = [];
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    callers.push(callerOf(request));
    if (server.answer(request, response)) return;
    response.setHeader('content-type', 'application/json');
    if (request.url === '/version') response.end('{"major":"1","minor":"37","gitVersion":"v1.37.1"}');
    else response.end('{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}');
  };
  const listener = identity === undefined ? createHttpServer(handle) : createHttpsServer(identity, handle);
  const { url, port, stop } = await listen(listener);
  const server: RecordingApiServer = { url, port, callers, answer: () => false, stop };
  return server;
}

function callerOf({ headersDistinct }: IncomingMessage): string {
  const told = Object.entries(headersDistinct).filter(([name]) => /^(authorization|impersonate-)/.test(name));
  return JSON.stringify(Object.fromEntries(told.sort(([one], [other]) => (one < other ? -1 : 1))));
}

/** Answers with a Status object. */
export function refuse(response: ServerResponse, code: number, headers: Record<string, string> = {}): true {
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message: `made up ${code}` };
  response.end(JSON.stringify(status));
  return true;
}
