import { createServer, type RequestListener, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LoopbackServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Cuts what is still open. */
  close(): Promise<void>;
}

/** Uploads take as long as they take; the only client is on the same machine. */
const limits: ServerOptions = { requestTimeout: 0, keepAliveTimeout: 60_000, maxHeaderSize: 64 * 1024 };

/** Serves on a free port of the loopback interface. */
export async function serveOnLoopback(listener: RequestListener): Promise<LoopbackServer> {
  const server = createServer(limits, listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
