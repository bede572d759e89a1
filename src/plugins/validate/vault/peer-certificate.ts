import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { messageOf } from '../../../core/errors.ts';
import type { VaultEndpoint } from '../../../runtime/vault/config.ts';
import { TlsContext } from '../../../runtime/vault/tls-context.ts';
import { NotEvaluated } from '../not-evaluated.ts';
import type { PeerCertificate } from './contract.ts';

/** Looks at the certificate as clients of svc judge it, whatever it is, and says nothing to the server. */
export async function peerCertificate(
  endpoint: VaultEndpoint,
  signal: AbortSignal,
): Promise<PeerCertificate | undefined> {
  const { url } = endpoint;
  if (url.protocol !== 'https:') return undefined;
  const socket = open(endpoint);
  const abort = () => socket.destroy(new Error('no answer in time'));
  signal.addEventListener('abort', abort, { once: true });
  try {
    await connected(socket);
    return described(socket);
  } catch (cause) {
    throw new NotEvaluated(`No TLS connection to ${url.host}: ${messageOf(cause)}`, undefined, cause);
  } finally {
    signal.removeEventListener('abort', abort);
    socket.destroy();
  }
}

function open({ url, caFiles, caPath, client }: VaultEndpoint): TLSSocket {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return connect({
    host,
    port: Number(url.port || 443),
    secureContext: new TlsContext({ caFiles, caPath, client }).current(),
    rejectUnauthorized: false,
    ...(isIP(host) === 0 && { servername: host }),
  });
}

function connected(socket: TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('secureConnect', resolve);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed')));
  });
}

function described(socket: TLSSocket): PeerCertificate {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) throw new Error('the server shows no certificate');
  const { authorizationError } = socket;
  const problem = authorizationError ? messageOf(authorizationError) : undefined;
  return {
    problem: socket.authorized ? undefined : (problem ?? 'not authorized'),
    validTo: Date.parse(certificate.validTo),
    subject: certificate.subject.replaceAll('\n', ', '),
  };
}
