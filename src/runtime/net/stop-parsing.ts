import type { IncomingMessage } from 'node:http';
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
