import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ResponseBody } from '../../../../src/objects/net/http1-response-body.ts';
import { createConnector, storeLimits } from '../../../../src/objects/upstream/upstream-exchange.ts';

/** The body of a real answer, whose server side the test drives. */
export async function incoming(
  serve: (response: ServerResponse) => void,
): Promise<{ message: ResponseBody; stop: () => void }> {
  const server = createServer((_, response) => serve(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connector = createConnector({ port, host: '127.0.0.1', tls: undefined }, storeLimits);
  const head = { method: 'GET', target: '/', headers: { host: `127.0.0.1:${port}` } };
  const { body } = await connector.open(head, undefined, new Uint8Array(0)).response;
  const stop = () => {
    connector.close();
    server.close();
    server.closeAllConnections();
  };
  return { message: body, stop };
}
