import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Identity } from './identity.ts';
import { certificatesIn } from './pem.ts';

/** A certificate, read; the first one of a chain. @throws Error when it cannot be */
export function readCertificate(pem: string): X509Certificate {
  const [first] = certificatesIn(pem);
  if (first === undefined) throw new Error('there is no certificate in it');
  return new X509Certificate(first);
}

/** The same of a whole identity. @throws Error when one cannot be read, or the key is another one's */
export function readIdentity({ cert, key }: Identity): X509Certificate {
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
