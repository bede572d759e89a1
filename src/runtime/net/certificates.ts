import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** A certificate, read; the first one of a chain. @throws Error when it cannot be */
export function readCertificate(pem: string): X509Certificate {
  const [first] = certificatesIn(pem);
  if (first === undefined) throw new Error('there is no certificate in it');
  return new X509Certificate(first);
}

/** The same of a whole identity. @throws Error when one cannot be read, or the key is another one's */
export function readIdentity({ cert, key }: TlsIdentity): X509Certificate {
  const certificate = readCertificate(cert);
  if (!certificate.checkPrivateKey(readKey(key)))
    throw new Error('the key does not belong to the certificate');
  return certificate;
}

/** Node's own message may tell where in the key the parser stopped. */
function readKey(pem: string) {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Error('the private key cannot be read');
  }
}

/** Whether the one signed the other; dates are not looked at. */
export function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

/** In milliseconds since 1970. */
export function validityOf(certificate: X509Certificate): { readonly from: number; readonly to: number } {
  return { from: Date.parse(certificate.validFrom), to: Date.parse(certificate.validTo) };
}

/** A certificate and its private key. */
export interface TlsIdentity {
  /** PEM; the certificate itself first, then its chain. */
  readonly cert: string;
  /** PEM (PKCS #8). */
  readonly key: string;
}

const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a PEM text, in its order; whatever stands between them is left out. */
export function certificatesIn(pem: string): readonly string[] {
  return [...pem.matchAll(certificate)].map(([text]) => `${text}\n`);
}

/** One PEM text of several, each certificate once. */
export function bundleOf(...pems: readonly string[]): string {
  return [...new Set(pems.flatMap(certificatesIn))].join('');
}

/** A config map takes 1 MiB at most, with all that is in it. */
const mostBytes = 1_000_000;

/**
 * The certificates of a file as PEM, and nothing else: a key that was left in it goes nowhere.
 * @throws Error where it cannot be read or holds no certificate
 */
export async function readAuthorities(path: string): Promise<string> {
  const certificates = certificatesIn(await readFile(path, 'utf8'));
  if (certificates.length === 0) throw new Error('there is no certificate in it');
  for (const certificate of certificates) new X509Certificate(certificate);
  const text = certificates.map((certificate) => `${certificate.trim()}\n`).join('');
  if (text.length > mostBytes) throw new Error(`it has over ${mostBytes} bytes`);
  return text;
}
