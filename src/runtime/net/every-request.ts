import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:net';

/**
 * Has a server emit `request` for requests that `node:http` would answer by itself: without a `Host` (400), and with an
 * `Expect` other than `100-continue` (417), which a server may ignore (RFC 9110, 10.1.1). Nobody counts such answers,
 * and a read of 64 KiB holds 3,000 of them.
 */
export function emitEveryRequest(server: Server): void {
  if (!isHttp(server)) return;
  server.requireHostHeader = false;
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    server.emit('request', request, response),
  );
}

/** The field is set from an option of the same name, and read for each request. */
const isHttp = (server: Server): server is HttpServer & { requireHostHeader: boolean } =>
  'requireHostHeader' in server;
