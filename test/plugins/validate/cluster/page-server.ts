import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serviceAddress } from '../../../support/service-address.ts';
import type { Stoppable } from '../../../support/types.ts';

/** What pods would answer, at an address that the API server may be led to. */
export interface PageServer extends Stoppable {
  readonly address: string;
  readonly port: number;
  /** By path, such as `/metrics`; a path without one is answered with 503. */
  readonly pages: Map<string, string>;
}

export async function startPageServer(): Promise<PageServer> {
  const pages = new Map<string, string>();
  const server = createServer(({ url = '' }, response) => {
    const page = pages.get(url);
    response.writeHead(page === undefined ? 503 : 200, { 'content-type': 'text/plain' }).end(page ?? '{}');
  });
  const address = await serviceAddress();
  server.listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    ...{ address, port, pages },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
