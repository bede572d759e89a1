import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exitStatus, SvcError } from '../../core/errors.ts';
import { formatListenAddress, type ListenAddress } from '../../core/settings/listen-address.ts';
import { answerHealth } from './answer.ts';
import type { HealthSource } from './health-source.ts';

export interface HealthServer {
  /** Where it listens, with the port that it got: `127.0.0.1:8191`, `[::]:8191`. */
  readonly address: string;
  close(): Promise<void>;
}

const limits = {
  maxHeaderSize: 8192,
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 15_000,
};
const mostConnections = 64;

/**
 * Serves `/healthz`, `/readyz` and `/metrics`.
 * @throws SvcError HEALTH_ADDRESS (exit 78) where the address cannot be had
 */
export async function startHealthServer(at: ListenAddress, source: HealthSource): Promise<HealthServer> {
  const server = createServer(limits, (request, response) => void answerHealth(request, response, source));
  server.maxConnections = mostConnections;
  await listen(server, at);
  const { address, port } = server.address() as AddressInfo;
  return { address: formatListenAddress({ host: address, port }), close: () => close(server) };
}

function listen(server: Server, at: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(refused(at, cause)));
    server.listen({ host: at.host, port: at.port }, resolve);
  });
}

function refused(at: ListenAddress, cause: NodeJS.ErrnoException): SvcError {
  const why = cause.code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be used (${cause.code})`;
  return new SvcError('HEALTH_ADDRESS', `The health address ${formatListenAddress(at)} ${why}`, {
    nextStep:
      'Give another address for health and metrics; port 0 takes a free one, an empty address turns them off.',
    exitStatus: exitStatus.config,
    cause,
  });
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
