import type { RequestListener, ServerOptions } from 'node:http';
import { createServer, type Server } from 'node:https';
import { startPeriodic } from '../../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { tlsContextLimits, tlsLimits } from '../../../runtime/net/certificates.ts';
import { type CertificateFiles, readTlsFiles, stampOf, tlsFaults } from './tls-files.ts';

/** @throws Error if certificate and key do not fit together */
export function createTlsServer(
  files: CertificateFiles,
  limits: ServerOptions,
  serve: RequestListener,
): Server {
  const server = createServer({ ...limits, ...tlsLimits, ...readTlsFiles(files) }, serve);
  // for example a client that does not trust the certificate, or speaks plain HTTP
  return server.on('tlsClientError', (_error, socket) => socket.destroy());
}

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
    server.setSecureContext({ ...readTlsFiles(files), ...tlsContextLimits });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
