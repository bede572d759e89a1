import { once } from 'node:events';
import {
  Agent,
  createServer,
  request as forward,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { resetSocket } from '../../src/runtime/net/accepted-sockets.ts';
import { listen } from './loopback.ts';
import type { Stoppable } from './types.ts';

export interface StoreRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** An answer as the store gave it, or as it is to be given on. A HEAD has no body, whatever its length says. */
export interface StoreAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/** What happens to a request on its way to the store and to the answer on its way back. */
export interface Meddling {
  /** Before the store sees the request, which waits for it; an answer returned stands for the store's own. */
  before?(request: StoreRequest): Promise<StoreAnswer | undefined> | StoreAnswer | undefined;
  after?(request: StoreRequest, answer: StoreAnswer): Promise<StoreAnswer> | StoreAnswer;
  /** Instead of `after`: the caller went away before it had sent all, or the store gave no answer. */
  lost?(request: StoreRequest): void;
}

export interface MeddlingStore extends Stoppable {
  readonly url: string;
  /** Undefined: passes everything on as it is. */
  meddle(how: Meddling | undefined): void;
}

/**
 * Starts an HTTP relay in front of a store (plain HTTP) that lies, waits or does something in between as a test
 * says. Answers are held whole while they are changed. Headers of requests pass as they are, so signatures hold.
 */
export async function startMeddlingStore(target: string): Promise<MeddlingStore> {
  const { hostname, port } = new URL(target);
  const agent = new Agent({ keepAlive: true });
  let meddling: Meddling = {};

  const send = async (request: IncomingMessage, seen: StoreRequest): Promise<StoreAnswer> => {
    const { method, url: path, rawHeaders: headers } = request;
    // its end would never come through pipe()
    if (request.destroyed) throw new Error('The caller went away meanwhile.');
    const upstream = forward({ host: hostname, port, agent, method, path, headers, setHost: false });
    request.pipe(upstream);
    // by itself pipe() leaves the store waiting for the rest
    request.once('close', () => {
      if (!request.complete) upstream.destroy(new Error('The caller went away.'));
    });
    const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
    const { statusCode: status = 0 } = answer;
    const whole = { status, headers: answer.headers, body: await buffer(answer) };
    return meddling.after?.(seen, whole) ?? whole;
  };
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url: path = '', headers } = request;
    const seen = { method, path, headers };
    try {
      const instead = await meddling.before?.(seen);
      request.resume();
      give(response, method, instead ?? (await send(request, seen)));
    } catch {
      meddling.lost?.(seen);
      resetSocket(request.socket);
    }
  };
  const listener = (request: IncomingMessage, response: ServerResponse) => void serve(request, response);
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 }, listener).on(
    'checkContinue',
    (request, response) => {
      response.writeContinue();
      listener(request, response);
    },
  );
  const own = await listen(server);
  return {
    url: own.url,
    meddle: (how) => {
      meddling = how ?? {};
    },
    async stop() {
      agent.destroy();
      await own.stop();
    },
  };
}

function give(response: ServerResponse, method: string, { status, headers, body }: StoreAnswer): void {
  response.sendDate = false;
  const { 'transfer-encoding': _chunked, ...others } = headers;
  const length = others['content-length'] ?? body.length;
  response.writeHead(status, { ...others, ...(status === 204 ? {} : { 'content-length': length }) });
  response.end(method === 'HEAD' ? undefined : body);
}
