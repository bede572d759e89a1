import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCertificateAuthority } from '../../support/certificates.ts';
import { temporaryFolder } from '../../support/temporary.ts';

/** Files of a certificate for the proxy's listener. */
export interface ListenerCertificate {
  /** Variables that name them to the proxy. */
  readonly env: { readonly SVC_PROXY_TLS_CERT: string; readonly SVC_PROXY_TLS_KEY: string };
  /** PEM of its authority. */
  readonly ca: string;
  readonly caFile: string;
  remove(): Promise<void>;
}

export function createListenerCertificate(): ListenerCertificate {
  const folder = temporaryFolder('listener');
  const authority = createCertificateAuthority();
  const { cert, key } = authority.issue({ commonName: 'proxy' });
  const write = (name: string, text: string): string => {
    const path = join(folder.path, name);
    writeFileSync(path, text);
    return path;
  };
  return {
    env: { SVC_PROXY_TLS_CERT: write('tls.crt', cert), SVC_PROXY_TLS_KEY: write('tls.key', key) },
    ca: authority.cert,
    caFile: write('ca.pem', authority.cert),
    remove: () => folder.remove(),
  };
}
