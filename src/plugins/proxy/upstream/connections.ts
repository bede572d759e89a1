import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions } from 'node:https';
import { connect as connectTcp, type NetConnectOpts, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { resetSocket } from '../../../runtime/net/reset-socket.ts';
import type { WireLimits } from './limits.ts';

/** The TCP connection below a TLS one, which alone can be reset. */
const carriers = new WeakMap<object, Socket>();

/** Kept-alive connections to the store. `ca`: PEM certificates to trust in place of Node's own. */
export function createAgent(
  secure: boolean,
  limits: WireLimits,
  ca: string | undefined,
): HttpAgent | HttpsAgent {
  const options = {
    keepAlive: true,
    maxSockets: limits.sockets,
    maxFreeSockets: limits.sockets,
    scheduling: 'lifo',
    timeout: limits.keptMs,
  } as const;
  if (!secure) return new HttpAgent(options);
  // said outright, because NODE_TLS_REJECT_UNAUTHORIZED=0 would decide otherwise
  return new ResettableTlsAgent({ ...options, ...(ca && { ca }), rejectUnauthorized: true });
}

type Created = (error: Error | null, socket: Duplex) => void;

/** Connects in two steps, because Node cannot reset a TLS connection that it has opened in one. */
class ResettableTlsAgent extends HttpsAgent {
  #session: Buffer | undefined;

  override createConnection(options: RequestOptions, created?: Created): undefined {
    const carrier = connectTcp(options as NetConnectOpts);
    const refused = (error: Error) => created?.(error, carrier);
    carrier.once('error', refused);
    carrier.once('connect', () => {
      carrier.off('error', refused);
      const session = this.#session && { session: this.#session };
      const socket = connectTls({ ...(options as object), ...session, socket: carrier });
      socket.on('session', (ticket) => {
        this.#session = ticket;
      });
      carriers.set(socket, carrier);
      created?.(null, socket);
    });
  }
}

/** Calls `done` when the connection stands, the TLS handshake included. */
export function whenConnected(socket: Socket | TLSSocket, done: () => void): void {
  if ('secureConnecting' in socket && socket.secureConnecting) socket.once('secureConnect', done);
  else if (socket.connecting) socket.once('connect', done);
  else done();
}

/** Ends a connection by RST, so that what was sent on it cannot be taken for a whole request. */
export const resetConnection = (socket: Socket): void => resetSocket(socket, carriers.get(socket));
