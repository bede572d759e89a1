import { generateKeyPair, randomBytes, sign } from 'node:crypto';
import { promisify } from 'node:util';
import forge from 'node-forge';
import type { TlsIdentity } from './certificates.ts';

const dayMs = 86_400_000;
const dnsName = 2;
const uriName = 6;
const ipAddress = 7;

export interface IssueOptions {
  readonly commonName: string;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly uris?: readonly string[];
  /** Validity in days from now, bounded by that of the CA. */
  readonly days: number;
  readonly usage: 'server' | 'client';
  /** Milliseconds since 1970; default: the clock. */
  readonly now?: number;
}

/**
 * Issues a certificate with a new key (RSA 2048), for either servers or clients.
 * @throws Error if the CA's PEM cannot be read
 */
export async function issueCertificate(authority: TlsIdentity, options: IssueOptions): Promise<TlsIdentity> {
  const { commonName, days, now = Date.now() } = options;
  const issuer = forge.pki.certificateFromPem(authority.cert);
  const { publicKey, privateKey } = await rsaKeyPair(2_048);
  const notAfter = Math.min(now + days * dayMs, issuer.validity.notAfter.getTime());
  const plan = {
    ...{ publicKey, subject: [{ name: 'commonName', value: commonName }], issuer: issuer.subject.attributes },
    ...{ notBefore: now - backdatedMs, notAfter, extensions: extensionsOf(options, issuer) },
  };
  return { cert: compose(plan, authority.key), key: privateKey };
}

function extensionsOf(options: IssueOptions, issuer: forge.pki.Certificate): object[] {
  const { usage } = options;
  return [
    { name: 'basicConstraints', cA: false, critical: true },
    { name: 'keyUsage', digitalSignature: true, keyEncipherment: usage === 'server', critical: true },
    { name: 'extKeyUsage', serverAuth: usage === 'server', clientAuth: usage === 'client' },
    { name: 'subjectAltName', altNames: namesOf(options) },
    { name: 'subjectKeyIdentifier' },
    {
      name: 'authorityKeyIdentifier',
      keyIdentifier: issuer.generateSubjectKeyIdentifier().getBytes(),
    },
  ];
}

function namesOf({ dnsNames = [], ipAddresses = [], uris = [] }: IssueOptions): object[] {
  return [
    ...dnsNames.map((value) => ({ type: dnsName, value })),
    ...uris.map((value) => ({ type: uriName, value })),
    ...ipAddresses.map((ip) => ({ type: ipAddress, ip })),
  ];
}

export interface AuthorityOptions {
  /** Unique for each CA, because verifiers first select the issuer by name. */
  readonly commonName: string;
  /** Validity in days from now. */
  readonly days: number;
  /** Milliseconds since 1970; default: the clock. */
  readonly now?: number;
}

/** Creates a self-signed CA (RSA 3072) that issues server and client certificates, but no further CAs. */
export async function createAuthority({
  commonName,
  days,
  now = Date.now(),
}: AuthorityOptions): Promise<TlsIdentity> {
  const { publicKey, privateKey } = await rsaKeyPair(3_072);
  const name = [{ name: 'commonName', value: commonName }];
  const plan = {
    ...{ publicKey, subject: name, issuer: name },
    ...{ notBefore: now - backdatedMs, notAfter: now + days * dayMs },
    extensions: [
      { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
      { name: 'subjectKeyIdentifier' },
      {
        name: 'authorityKeyIdentifier',
        keyIdentifier: keyIdentifierOf(forge.pki.publicKeyFromPem(publicKey)),
      },
    ],
  };
  return { cert: compose(plan, privateKey), key: privateKey };
}

/** The value that forge generates for `subjectKeyIdentifier`. */
function keyIdentifierOf(key: forge.pki.rsa.PublicKey): string {
  return forge.pki.getPublicKeyFingerprint(key, { type: 'RSAPublicKey' }).getBytes();
}

/** How far verifiers' clocks may be behind: more than twice the assumed difference between replicas. */
export const backdatedMs = 30 * 60_000;

export interface CertificatePlan {
  /** PEM. */
  readonly publicKey: string;
  readonly subject: forge.pki.CertificateField[];
  readonly issuer: forge.pki.CertificateField[];
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly extensions: readonly object[];
}

/**
 * Creates a certificate signed by `signer`.
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

/** Forge calls this key's `sign`; Node's signature is fifty times as fast, and forge never sees the private key. */
function signingKey(certificate: forge.pki.Certificate, signer: string): forge.pki.rsa.PrivateKey {
  const signature = () => {
    const { tbsCertificate } = certificate as unknown as { tbsCertificate: forge.asn1.Asn1 };
    const der = forge.asn1.toDer(tbsCertificate).getBytes();
    return sign('sha256', Buffer.from(der, 'binary'), signer).toString('binary');
  };
  return { sign: signature } as unknown as forge.pki.rsa.PrivateKey;
}

/** 128 random bits after a first byte that makes the number positive and free of leading zeros. */
function serialNumber(): string {
  return `01${randomBytes(16).toString('hex')}`;
}

const generate = promisify(generateKeyPair);

export interface KeyPair {
  /** PEM (SPKI). */
  readonly publicKey: string;
  /** PEM (PKCS #8). */
  readonly privateKey: string;
}

/**
 * Generates an RSA key pair off the event loop: 3072 bits take a third of a second, while forge's own generator takes
 * seconds.
 */
export function rsaKeyPair(modulusLength: number): Promise<KeyPair> {
  return generate('rsa', {
    modulusLength,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}
