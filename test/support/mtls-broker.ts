import { readFileSync, writeFileSync } from 'node:fs';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https, { createServer } from 'node:https';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { createCertificateAuthority } from './certificates.ts';
import { listen } from './loopback.ts';
import { temporaryFolder } from './temporary.ts';
import type { Stoppable } from './types.ts';

export interface BrokeredRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Common name of the client's certificate. */
  readonly client: string;
}

/** A broker that stands before a key server and admits clients with a certificate of its authority only. */
export interface MtlsBroker extends Stoppable {
  readonly url: string;
  /** PEM files: its authority, and the client's certificate and key. */
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  /** What was passed on. */
  readonly requests: readonly BrokeredRequest[];
}

/** Starts one that passes every request on to `target`. @param admits `anybody`: TLS alone, without a certificate */
export async function startMtlsBroker(
  target: string,
  targetCaFile?: string,
  admits: 'certified' | 'anybody' = 'certified',
): Promise<MtlsBroker> {
  const folder = temporaryFolder('mtls-broker');
  const authority = createCertificateAuthority('broker CA');
  const put = (name: string, text: string) => {
    const path = join(folder.path, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const client = authority.issue({ commonName: 'app' });
  const requests: BrokeredRequest[] = [];
  const certified = { ca: authority.cert, requestCert: true, rejectUnauthorized: true };
  const demand = admits === 'certified' ? certified : {};
  const ca = targetCaFile && readFileSync(targetCaFile, 'utf8');
  const server = createServer(
    { ...authority.issue({ commonName: 'broker' }), ...demand },
    (incoming, response) => {
      requests.push(seen(incoming));
      passOn(incoming, response, target, ca);
    },
  );
  const own = await listen(server);
  return {
    url: own.url,
    caFile: put('ca.pem', authority.cert),
    certFile: put('client.pem', client.cert),
    keyFile: put('client.key', client.key),
    requests,
    async stop() {
      await own.stop();
      await folder.remove();
    },
  };
}

function seen({ method = '', url = '', socket }: IncomingMessage): BrokeredRequest {
  return { method, path: url, client: String((socket as TLSSocket).getPeerCertificate().subject?.CN) };
}

function passOn(incoming: IncomingMessage, response: ServerResponse, target: string, ca: string | undefined) {
  const { request } = target.startsWith('https:') ? https : http;
  const { method, url = '', headers } = incoming;
  const outgoing = request(new URL(url, target), { method, headers, ca }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  outgoing.on('error', () => response.writeHead(502).end());
  incoming.pipe(outgoing);
}
