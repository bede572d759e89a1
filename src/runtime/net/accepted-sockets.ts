import type { Server, Socket } from 'node:net';

/**
 * Has `decide` look at accepted connections in place of the server's own listeners, which make a TLS or HTTP connection
 * of each.
 * @returns hands one to those listeners
 */
export function interceptAccepted(
  server: Server,
  decide: (socket: Socket) => void,
): (socket: Socket) => void {
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection').on('connection', decide);
  return (socket) => {
    for (const listener of listeners) listener.call(server, socket);
  };
}

/** Equal for a TLS socket and the accepted one below it, and different for all others of a server. */
export const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/** By TLS socket. */
const acceptedSockets = new WeakMap<Socket, Socket>();

/** Says that a TLS socket has come of an accepted one. */
export function secureAccepted(accepted: Socket, socket: Socket): void {
  acceptedSockets.set(socket, accepted);
}

/** The socket that was accepted: the one below a TLS socket, any other itself. */
export const acceptedOf = (socket: Socket): Socket => acceptedSockets.get(socket) ?? socket;

/**
 * Closes a connection by RST, so that the peer cannot mistake a part for the whole. After a FIN, libuv refuses to
 * reset, and Node 24 would leave the socket open and spin at its exit; such a socket is closed normally.
 *
 * A TLS connection is closed by its TCP connection, which alone can be reset, and only once nothing of OpenSSL is on
 * the stack: this may be called from code that runs within its handshake, promises included, and Node frees the TLS
 * state at once if the TCP connection has gone. The TLS socket then closes by itself.
 * @param carrier the TCP connection below a TLS socket; known for those that `Connections` counts
 */
export function resetSocket(socket: Socket, carrier = acceptedOf(socket)): void {
  const close = () => {
    if (!isEnding(socket) && !isEnding(carrier)) carrier.resetAndDestroy();
    carrier.destroy();
  };
  if (carrier === socket) close();
  else setImmediate(close);
}

const isEnding = ({ writableEnded, writableFinished }: Socket): boolean => writableEnded && !writableFinished;
