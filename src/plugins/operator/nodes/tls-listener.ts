import type { Socket } from 'node:net';
import { createSecureContext, createServer, type Server, type TLSSocket } from 'node:tls';
import { exitStatus, SvcError } from '../../../core/errors.ts';
import { formatListenAddress, type ListenAddress } from '../../../core/settings/listen-address.ts';
import { listenAt } from '../../../runtime/net/listen-at.ts';
import type { NodeCertificates } from './certificates.ts';

/** Agents have one each, and those of at most 5,000 nodes are known. */
const mostConnections = 6_000;
const handshakeTimeout = 10_000;
const minVersion = 'TLSv1.2';

export interface TlsListener {
  /** With the port that it got. */
  readonly address: string;
  /** New connections get the certificates as they are now. @throws Error and changes nothing when they do not fit */
  renew(): void;
  /** Takes no more connections. Resolves when those that are there have ended, by force after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/**
 * Takes connections of those who have a certificate of the agents' authorities.
 * @throws SvcError NODE_CHANNEL_ADDRESS (exit 78) where the address cannot be had; Error when the certificates do not fit
 */
export async function listenForNodes(
  at: ListenAddress,
  certificates: NodeCertificates,
  accept: (socket: TLSSocket) => void,
): Promise<TlsListener> {
  const server = createServer(
    {
      ...materialOf(certificates),
      ...{ requestCert: true, rejectUnauthorized: true, ALPNProtocols: ['h2'], handshakeTimeout },
    },
    (socket) => {
      // agents may go at any time
      socket.on('error', () => {});
      accept(socket);
    },
  );
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.maxConnections = mostConnections;
  // a connection that fails, or goes before its handshake, is the caller's affair
  server.on('tlsClientError', () => {});
  const address = await listenAt(server, at, (cause) => refused(at, cause));
  return {
    address,
    renew() {
      const material = materialOf(certificates);
      createSecureContext(material);
      server.setSecureContext(material);
    },
    close: (graceMs) => closed(server, sockets, graceMs),
  };
}

/** Without authorities Node would trust those of the system. */
function materialOf(certificates: NodeCertificates) {
  const { key, cert } = certificates.current();
  const ca = certificates.clientAuthorities();
  if (!ca.includes('-----BEGIN CERTIFICATE-----')) throw new Error('there are no authorities for agents');
  return { key, cert, ca, minVersion } as const;
}

async function closed(server: Server, sockets: ReadonlySet<Socket>, graceMs: number): Promise<void> {
  const all = new Promise<void>((resolve) => server.close(() => resolve()));
  const timer = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, graceMs);
  await all;
  clearTimeout(timer);
}

function refused(at: ListenAddress, cause: NodeJS.ErrnoException): SvcError {
  const why = cause.code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be used (${cause.code})`;
  return new SvcError(
    'NODE_CHANNEL_ADDRESS',
    `The address for node agents, ${formatListenAddress(at)}, ${why}`,
    {
      nextStep: 'Give another address by SVC_OPERATOR_GRPC_ADDR.',
      exitStatus: exitStatus.config,
      cause,
    },
  );
}
