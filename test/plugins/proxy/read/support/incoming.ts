import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A real answer of `node:http`, whose server side the test drives. */
export async function incoming(
  serve: (response: ServerResponse) => void,
): Promise<{ message: IncomingMessage; stop: () => void }> {
  const server = createServer((_, response) => serve(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, host: '127.0.0.1', agent: false });
  sent.on('error', () => undefined);
  sent.end();
  const [message] = (await once(sent, 'response')) as [IncomingMessage];
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { message, stop };
}
