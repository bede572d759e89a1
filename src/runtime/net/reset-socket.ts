import type { Socket } from 'node:net';

/**
 * Closes a connection by RST, so that the peer cannot take what it has for the whole.
 * With a FIN under way libuv refuses to reset, and Node 24 would leave the socket open and
 * spin at its exit; such a socket is closed the ordinary way.
 *
 * @param carrier the TCP connection below a TLS socket; Node resets no other
 */
export function resetSocket(socket: Socket, carrier = socket): void {
  if (!isEnding(socket) && !isEnding(carrier)) carrier.resetAndDestroy();
  socket.destroy();
}

const isEnding = ({ writableEnded, writableFinished }: Socket): boolean => writableEnded && !writableFinished;
