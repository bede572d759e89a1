import { randomBytes, sign } from 'node:crypto';
import forge from 'node-forge';
import { testRsaKey } from './rsa-keys.ts';

const DAY_MS = 86_400_000;
const ATTRIBUTE_DNS = 2;
const ATTRIBUTE_URI = 6;
const ATTRIBUTE_IP = 7;

export interface Identity {
  /** PEM certificate. */
  readonly cert: string;
  /** PEM private key (RSA 2048). */
  readonly key: string;
}

export interface CertificateOptions {
  readonly commonName: string;
  /** Default: `localhost`. */
  readonly dnsNames?: readonly string[];
  /** Default: `127.0.0.1`. */
  readonly addresses?: readonly string[];
  /** Default: none. */
  readonly uris?: readonly string[];
  /** Default: a day from now. */
  readonly notAfter?: Date;
  /** Default: two days ago. */
  readonly notBefore?: Date;
}

export interface CertificateAuthority {
  /** PEM certificate of the CA. */
  readonly cert: string;
  /** Issues a certificate that serves for servers and clients. */
  issue(options: CertificateOptions): Identity;
  /** A CA below it. */
  intermediate(commonName: string): CertificateAuthority;
}

/** A certificate authority for one test. */
export function createCertificateAuthority(
  commonName = 'svc test CA',
  issuer?: { readonly subject: forge.pki.CertificateField[]; readonly key: string },
): CertificateAuthority {
  const pair = keyPair();
  const subject = [{ name: 'commonName', value: commonName }];
  const certificate = blank(pair.publicKey, subject, issuer?.subject ?? subject);
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
  ]);
  signCertificate(certificate, issuer?.key ?? pair.privateKey);
  return {
    cert: forge.pki.certificateToPem(certificate),
    issue: (options) => issue(options, subject, pair.privateKey),
    intermediate: (name) => createCertificateAuthority(name, { subject, key: pair.privateKey }),
  };
}

function issue(options: CertificateOptions, issuer: forge.pki.CertificateField[], signer: string): Identity {
  const pair = keyPair();
  const certificate = blank(pair.publicKey, [{ name: 'commonName', value: options.commonName }], issuer);
  if (options.notAfter) certificate.validity.notAfter = options.notAfter;
  if (options.notBefore) certificate.validity.notBefore = options.notBefore;
  const dns = (options.dnsNames ?? ['localhost']).map((value) => ({ type: ATTRIBUTE_DNS, value }));
  const addresses = (options.addresses ?? ['127.0.0.1']).map((ip) => ({ type: ATTRIBUTE_IP, ip }));
  const uris = (options.uris ?? []).map((value) => ({ type: ATTRIBUTE_URI, value }));
  certificate.setExtensions([
    { name: 'basicConstraints', cA: false },
    { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
    { name: 'subjectAltName', altNames: [...dns, ...addresses, ...uris] },
  ]);
  signCertificate(certificate, signer);
  return { cert: forge.pki.certificateToPem(certificate), key: pair.privateKey };
}

function blank(
  publicKey: forge.pki.rsa.PublicKey,
  subject: forge.pki.CertificateField[],
  issuer: forge.pki.CertificateField[],
): forge.pki.Certificate {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = publicKey;
  certificate.serialNumber = `01${randomBytes(8).toString('hex')}`;
  certificate.validity.notBefore = new Date(Date.now() - 2 * DAY_MS);
  certificate.validity.notAfter = new Date(Date.now() + DAY_MS);
  certificate.setSubject(subject);
  certificate.setIssuer(issuer);
  return certificate;
}

interface KeyPair {
  /** PEM. */
  readonly privateKey: string;
  readonly publicKey: forge.pki.rsa.PublicKey;
}

function keyPair(): KeyPair {
  const privateKey = testRsaKey();
  const { n, e } = forge.pki.privateKeyFromPem(privateKey);
  return { privateKey, publicKey: forge.pki.setRsaPublicKey(n, e) };
}

/** Signed by Node, which is fifty times as fast as forge. */
function signCertificate(certificate: forge.pki.Certificate, signer: string): void {
  const signature = () => {
    const { tbsCertificate } = certificate as unknown as { tbsCertificate: forge.asn1.Asn1 };
    const der = forge.asn1.toDer(tbsCertificate).getBytes();
    return sign('sha256', Buffer.from(der, 'binary'), signer).toString('binary');
  };
  const key = { sign: signature } as unknown as forge.pki.rsa.PrivateKey;
  certificate.sign(key, forge.md.sha256.create());
}
