import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as NetServer, Socket } from 'node:net';

/** `node:http` keeps the parser of a connection in this field. */
interface ParsedSocket extends Socket {
  readonly parser?: Parser | null;
}

interface Parser {
  onIncoming: (message: IncomingMessage, shouldKeepAlive: boolean) => number;
}

/** What `onIncoming` returns of a message that changes the protocol: what was read behind its head is no HTTP. */
const changesProtocol = 2;

/**
 * A read of 64 KiB holds 2,400 small requests or answers. The parser makes all of them in one turn of the event loop, and
 * would go on when the connection has been closed.
 */
export function stopParsing({ parser }: ParsedSocket): void {
  if (parser) parser.onIncoming = () => changesProtocol;
}

/**
 * Lets a server answer requests without parsing their bodies: one with a body is the last of its connection, which is
 * closed after the response. For servers whose requests need none; before the server listens.
 */
export function leaveBodiesUnread(server: Server): void {
  server.on('connection', (socket: ParsedSocket) => {
    const { parser } = socket;
    if (!parser) return;
    const { onIncoming } = parser;
    parser.onIncoming = (request, shouldKeepAlive) => {
      const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
      if (coding === undefined && Number(length) === 0) return onIncoming(request, shouldKeepAlive);
      onIncoming(request, false);
      socket.pause();
      return changesProtocol;
    };
  });
}

/**
 * Has a server emit `request` for requests that `node:http` would answer by itself: without a `Host` (400), and with an
 * `Expect` other than `100-continue` (417), which a server may ignore (RFC 9110, 10.1.1). Nobody counts such answers,
 * and a read of 64 KiB holds 3,000 of them.
 */
export function emitEveryRequest(server: NetServer): void {
  if (!isHttp(server)) return;
  server.requireHostHeader = false;
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    server.emit('request', request, response),
  );
}

/** The field is set from an option of the same name, and read for each request. */
const isHttp = (server: NetServer): server is Server & { requireHostHeader: boolean } =>
  'requireHostHeader' in server;
