import type { Socket } from 'node:net';

/**
 * Closes a connection by RST. With a FIN under way Node cannot: `resetAndDestroy` would leave the socket open
 * and the process spinning at its exit, so that such a socket is closed the ordinary way.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}
