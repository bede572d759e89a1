import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

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
