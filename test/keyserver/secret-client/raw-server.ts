import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

export interface RawServer {
  readonly url: string;
  /** Connections accepted so far. */
  readonly sockets: readonly Socket[];
  /** Called with each request, as far as it has come in one piece. */
  onRequest: (socket: Socket, request: string) => void;
  stop(): Promise<void>;
}

/** A server on loopback that writes on the wire what a test tells it. */
export async function rawServer(onRequest: RawServer['onRequest'], tls?: TlsOptions): Promise<RawServer> {
  const sockets: Socket[] = [];
  const accept = (socket: Socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => raw.onRequest(socket, chunk.toString('latin1')));
  };
  const server: Server = tls === undefined ? createServer(accept) : createTlsServer(tls, accept);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const raw: RawServer = {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    sockets,
    onRequest,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return raw;
}

/** Writes each piece by itself. */
export async function writeSplit(socket: Socket, pieces: readonly Uint8Array[]): Promise<void> {
  socket.setNoDelay(true);
  for (const piece of pieces) {
    await new Promise((resolve) => socket.write(piece, resolve));
    await new Promise(setImmediate);
  }
}
