import type { RequestListener, ServerOptions } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { startPeriodic } from '../../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { carry, resetSocket } from '../../../runtime/net/connections.ts';
import { type CertificateFiles, readTlsFiles, stampOf, tlsFaults } from './tls-files.ts';

/** Handshakes at a time; a further connection ends the oldest. */
const mostHandshakes = 64;
const handshakeTimeout = 10_000;

/**
 * A `node:https` server with a bound on connections in their handshake.
 * @throws Error if certificate and key do not fit together
 */
export function createTlsServer(
  files: CertificateFiles,
  limits: ServerOptions,
  serve: RequestListener,
): Server {
  const server = createServer({ ...limits, ...readTlsFiles(files), minVersion, handshakeTimeout }, serve);
  const handshakes = new Map<string, Socket>();
  server.on('connection', (carrier: Socket) => {
    const [oldest] = handshakes.values();
    if (handshakes.size >= mostHandshakes && oldest !== undefined) resetSocket(oldest);
    const peer = peerOf(carrier);
    handshakes.set(peer, carrier);
    carrier.once('close', () => handshakes.delete(peer));
  });
  // runs before the handler of node:https, which starts serving the connection
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    const peer = peerOf(socket);
    const carrier = handshakes.get(peer);
    handshakes.delete(peer);
    if (carrier === undefined) socket.destroy();
    else carry(socket, carrier);
  });
  // for example a client that does not trust the certificate, or speaks plain HTTP
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return server;
}

const minVersion = 'TLSv1.2';

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

export interface TlsFollowing {
  readonly server: Server;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly everyMs?: number;
}

/**
 * Uses changed certificate files for new connections soon after the change; a certificate and key that do not fit
 * together are rejected.
 */
export function followTlsFiles(
  files: CertificateFiles,
  { server, log, signal, everyMs = 5_000 }: TlsFollowing,
): void {
  let seen = stampOf(files);
  const pass = async () => {
    const stamp = stampOf(files);
    if (stamp === seen) return everyMs;
    seen = stamp;
    // if only one file was written so far, the stamp changes again with the other
    const refused = renew(server, files);
    if (refused === undefined) log.info('proxy.tls.renewed', { certificate: files.certFile });
    else log.warn('proxy.tls.refused', { reason: refused });
    return everyMs;
  };
  startPeriodic({ pass, signal, firstMs: everyMs });
}

/** @returns the reason if the files were rejected */
function renew(server: Server, files: CertificateFiles): string | undefined {
  const [fault] = tlsFaults(files);
  if (fault !== undefined) return fault;
  try {
    server.setSecureContext({ ...readTlsFiles(files), minVersion });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
