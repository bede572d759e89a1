import { existsSync, readFileSync } from 'node:fs';
import { certificateFiles } from './certificate-files.ts';

/** Where systems keep the CAs that they trust, in the order in which Go's programs, OpenBao's own included, look. */
const bundles = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/tls/cacert.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/**
 * Files with the CAs that this system trusts; none where it has no store, as in images without a distribution, and then
 * Node's own CAs count. What Node itself was told to trust by NODE_EXTRA_CA_CERTS counts besides.
 */
export function systemAuthorities(env: Readonly<Record<string, string | undefined>>): string[] {
  const { SSL_CERT_FILE: file = '', SSL_CERT_DIR: folders = '', NODE_EXTRA_CA_CERTS: extra = '' } = env;
  const bundle = file === '' ? bundles.find(hasCertificate) : file;
  const others = folders
    .split(':')
    .filter(existsSync)
    .flatMap((folder) => certificateFiles(folder));
  if (bundle === undefined && others.length === 0) return [];
  return [...(bundle === undefined ? [] : [bundle]), ...[...others, extra].filter(hasCertificate)];
}

function hasCertificate(file: string): boolean {
  try {
    return readFileSync(file).includes('-----BEGIN CERTIFICATE-----');
  } catch {
    return false;
  }
}
