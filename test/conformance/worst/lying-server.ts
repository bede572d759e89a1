import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Loopback, listen } from '../../support/loopback.ts';
import type { Lie } from './inputs/store.ts';

export interface LyingServer extends Loopback {
  /** The answer to a request; undefined: that of the server behind. */
  judge: (request: IncomingMessage) => Lie | undefined;
}

/** Starts a server in front of another (plain HTTP) that answers some requests as it likes. */
export async function startLyingServer(target: string): Promise<LyingServer> {
  const { hostname: host, port } = new URL(target);
  const pass = (request: IncomingMessage, response: ServerResponse) => {
    const { method, url: path, rawHeaders: headers } = request;
    const behind = forward({ host, port, method, path, headers, setHost: false, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.rawHeaders);
      answer.pipe(response);
    });
    behind.on('error', () => request.socket.destroy());
    request.pipe(behind);
  };
  const server = createServer({ requestTimeout: 0 }, (request, response) => {
    const lie = own.judge(request);
    if (lie === undefined) return pass(request, response);
    request.resume();
    tell(request, response, lie);
  });
  server.on('connection', (socket) => socket.on('error', () => undefined));
  server.on('checkContinue', (request, response) => {
    response.writeContinue();
    server.emit('request', request, response);
  });
  const own: LyingServer = Object.assign(await listen(server), { judge: () => undefined });
  return own;
}

/** A lie may be longer than its reader likes. */
function tell(request: IncomingMessage, response: ServerResponse, lie: Lie): void {
  if ('raw' in lie) {
    request.socket.end(lie.raw);
    return;
  }
  const { status = 200, headers = {}, body = Buffer.alloc(0) } = lie;
  const length = headers['content-length'] ?? (status === 204 ? undefined : String(body.length));
  response.writeHead(status, { ...headers, ...(length === undefined ? {} : { 'content-length': length }) });
  response.end(request.method === 'HEAD' || status === 204 ? undefined : body);
}
