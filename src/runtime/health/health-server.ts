import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Connections } from '../net/connections.ts';
import { leaveBodiesUnread } from '../net/http-parser.ts';
import type { ListenAddress } from '../settings/listen-address.ts';
import { type HealthServer, type HealthSource, healthPage, listen } from './lean-health-server.ts';

const limits = {
  maxHeaderSize: 8192,
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 15_000,
};
/** One connection more ends a silent or idle one, so that nobody keeps probes out. */
const bounds = { connections: 64, requests: 8, staleMs: 5_000 };

/**
 * Serves `/healthz`, `/readyz` and `/metrics`. @throws SvcError HEALTH_ADDRESS (exit 78) if the address is not
 * available
 */
export async function startHealthServer(at: ListenAddress, source: HealthSource): Promise<HealthServer> {
  const connections = new Connections(bounds);
  const server = createServer(limits, (request, response) => {
    if (connections.begin(request.socket, response)) void answerHealth(request, response, source);
  });
  leaveBodiesUnread(server);
  connections.guard(server);
  const address = await listen(server, at);
  return { address, close: () => close(server) };
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}

/** Answers one request; never rejects. */
async function answerHealth(request: IncomingMessage, response: ServerResponse, source: HealthSource) {
  const { method = 'GET', url = '' } = request;
  const { status, headers, body } = await healthPage(method, url, source);
  response.writeHead(status, headers);
  response.end(method === 'HEAD' ? undefined : body);
}
