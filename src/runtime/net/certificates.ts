import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** Parses a certificate; in a chain, the first one. @throws Error if it is malformed */
export function readCertificate(pem: string): X509Certificate {
  const [first] = certificatesIn(pem);
  if (first === undefined) throw new Error('there is no certificate in it');
  return new X509Certificate(first);
}

/** Parses certificate and key. @throws Error if one is malformed, or they do not match */
export function readIdentity({ cert, key }: TlsIdentity): X509Certificate {
  const certificate = readCertificate(cert);
  if (!certificate.checkPrivateKey(readKey(key)))
    throw new Error('the key does not belong to the certificate');
  return certificate;
}

/** Node's own message may reveal where in the key parsing failed. */
function readKey(pem: string) {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Error('the private key cannot be read');
  }
}

/** Whether `authority` signed the certificate; dates are not checked. */
export function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

/** Milliseconds since 1970. */
export function validityOf(certificate: X509Certificate): { readonly from: number; readonly to: number } {
  return { from: Date.parse(certificate.validFrom), to: Date.parse(certificate.validTo) };
}

/** A certificate and its private key. */
export interface TlsIdentity {
  /** PEM: the certificate itself, followed by its chain. */
  readonly cert: string;
  /** PEM (PKCS #8). */
  readonly key: string;
}

const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates in a PEM text, in order; anything between them is ignored. */
export function certificatesIn(pem: string): readonly string[] {
  return [...pem.matchAll(certificate)].map(([text]) => `${text}\n`);
}

/** Joins PEM texts without duplicate certificates. */
export function bundleOf(...pems: readonly string[]): string {
  return [...new Set(pems.flatMap(certificatesIn))].join('');
}

/** The limit of a config map is 1 MiB. */
const maxBytes = 1_000_000;

/**
 * The certificates in a file as PEM, and nothing else: a private key in the file is not passed on.
 * @throws Error if the file cannot be read or contains no certificate
 */
export async function readAuthorities(path: string): Promise<string> {
  const certificates = certificatesIn(await readFile(path, 'utf8'));
  if (certificates.length === 0) throw new Error('there is no certificate in it');
  for (const certificate of certificates) new X509Certificate(certificate);
  const text = certificates.map((certificate) => `${certificate.trim()}\n`).join('');
  if (text.length > maxBytes) throw new Error(`it has over ${maxBytes} bytes`);
  return text;
}

/**
 * Of the certificates of every TLS listener. TLS 1.2 renegotiation is off: it costs a handshake each time, and runs our
 * code within OpenSSL in the middle of a connection.
 */
export const tlsContextLimits = {
  minVersion: 'TLSv1.2',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const;

/** Of every TLS listener. */
export const tlsLimits = { ...tlsContextLimits, handshakeTimeout: 10_000 } as const;
