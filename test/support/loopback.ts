import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { Stoppable } from './types.ts';

/** A server of this process. */
export interface Loopback extends Stoppable {
  readonly port: number;
  /** `127.0.0.1:PORT` */
  readonly address: string;
  /** Base address, without a slash at the end: `https` of a server with TLS, `http` of any other. */
  readonly url: string;
}

/** Lets a server listen on a free port of 127.0.0.1; `stop` cuts the connections of one that speaks HTTP. */
export async function listen(server: Server, backlog?: number): Promise<Loopback> {
  server.listen({ port: 0, host: '127.0.0.1', ...(backlog === undefined ? {} : { backlog }) });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const address = `127.0.0.1:${port}`;
  return {
    port,
    address,
    url: `${server instanceof TlsServer ? 'https' : 'http'}://${address}`,
    async stop() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      if (server instanceof HttpServer || server instanceof HttpsServer) server.closeAllConnections();
      await closed;
    },
  };
}
