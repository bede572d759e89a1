import type { RequestListener, ServerOptions } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { startPeriodic } from '../../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { carry, resetSocket } from '../../../runtime/net/connections.ts';
import { type CertificateFiles, readTlsFiles, stampOf, tlsFaults } from './tls-files.ts';

/** Handshakes at a time: one beyond them ends the oldest. */
const mostHandshakes = 64;
const handshakeTimeout = 10_000;

/**
 * A server of `node:https`, whose connections in their handshake are bounded.
 * @throws Error where the files do not fit
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
  // before node:https, which begins to serve it
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    const peer = peerOf(socket);
    const carrier = handshakes.get(peer);
    handshakes.delete(peer);
    if (carrier === undefined) socket.destroy();
    else carry(socket, carrier);
  });
  // such as a client that does not trust the certificate, or speaks plain HTTP
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

/** Has new connections get the certificate as it is in the files, soon after they change. What does not fit is not taken. */
export function followTlsFiles(
  files: CertificateFiles,
  { server, log, signal, everyMs = 5_000 }: TlsFollowing,
): void {
  let seen = stampOf(files);
  const pass = async () => {
    const stamp = stampOf(files);
    if (stamp === seen) return everyMs;
    seen = stamp;
    // a moment between the writing of one file and of the other ends with another stamp
    const refused = renew(server, files);
    if (refused === undefined) log.info('proxy.tls.renewed', { certificate: files.certFile });
    else log.warn('proxy.tls.refused', { reason: refused });
    return everyMs;
  };
  startPeriodic({ pass, signal, firstMs: everyMs });
}

/** @returns why it was not done */
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
