import { randomBytes, sign } from 'node:crypto';
import forge from 'node-forge';

/** Clocks of those who check it may be behind by as much: twice what clocks of replicas are thought to differ, and more. */
export const backdatedMs = 30 * 60_000;

export interface CertificatePlan {
  /** PEM. */
  readonly publicKey: string;
  readonly subject: forge.pki.CertificateField[];
  readonly issuer: forge.pki.CertificateField[];
  /** In milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly extensions: readonly object[];
}

/**
 * A certificate that `signer` vouches for.
 * @param signer PEM of an RSA private key
 * @returns PEM
 */
export function compose(plan: CertificatePlan, signer: string): string {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(plan.publicKey);
  certificate.serialNumber = serialNumber();
  certificate.validity.notBefore = new Date(plan.notBefore);
  certificate.validity.notAfter = new Date(plan.notAfter);
  certificate.setSubject(plan.subject);
  certificate.setIssuer(plan.issuer);
  certificate.setExtensions([...plan.extensions]);
  certificate.sign(signingKey(certificate, signer), forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate).replaceAll('\r', '');
}

/** Forge asks a key of its own to sign; Node's is fifty times as fast, and forge never sees the private key. */
function signingKey(certificate: forge.pki.Certificate, signer: string): forge.pki.rsa.PrivateKey {
  const signature = () => {
    const { tbsCertificate } = certificate as unknown as { tbsCertificate: forge.asn1.Asn1 };
    const der = forge.asn1.toDer(tbsCertificate).getBytes();
    return sign('sha256', Buffer.from(der, 'binary'), signer).toString('binary');
  };
  return { sign: signature } as unknown as forge.pki.rsa.PrivateKey;
}

/** 128 random bits below a first byte that keeps it positive and without leading zeros. */
function serialNumber(): string {
  return `01${randomBytes(16).toString('hex')}`;
}
