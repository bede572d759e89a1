import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, issueCertificate } from '../../runtime/net/issue-certificate.ts';

/** PEM files, and how temporary ones are removed. */
export interface DevelopmentCertificate {
  readonly certFile: string;
  readonly keyFile: string;
  /** Of the authority, for clients to trust. */
  readonly caFile: string;
  remove(): void;
}

const days = 30;

/**
 * A new certificate for `localhost`, from an authority whose key is discarded.
 * @param folder for the files; undefined for a temporary folder
 */
export async function createCertificate(folder: string | undefined): Promise<DevelopmentCertificate> {
  const authority = await createAuthority({ commonName: `svc dev ${new Date().toISOString()}`, days });
  const names = { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1', '::1'] };
  const { cert, key } = await issueCertificate(authority, {
    ...names,
    ...{ commonName: 'svc dev', days, usage: 'server' },
  });
  const into = folder === undefined ? mkdtempSync(join(tmpdir(), 'svc-dev-tls-')) : join(folder, 'tls');
  mkdirSync(into, { recursive: true, mode: 0o700 });
  const write = (name: string, text: string) => {
    writeFileSync(join(into, name), text, { mode: 0o600 });
    return join(into, name);
  };
  return {
    certFile: write('tls.crt', cert),
    keyFile: write('tls.key', key),
    caFile: write('ca.crt', authority.cert),
    remove: () => {
      if (folder === undefined) rmSync(into, { recursive: true, force: true });
    },
  };
}
