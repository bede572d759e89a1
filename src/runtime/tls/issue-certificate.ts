import forge from 'node-forge';
import { backdatedMs, compose } from './compose.ts';
import type { Identity } from './identity.ts';
import { rsaKeyPair } from './key-pair.ts';

const dayMs = 86_400_000;
const dnsName = 2;
const uriName = 6;
const ipAddress = 7;

export interface IssueOptions {
  readonly commonName: string;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly uris?: readonly string[];
  /** How long it is valid from now on, at most as long as its authority. */
  readonly days: number;
  readonly usage: 'server' | 'client';
  /** In milliseconds since 1970; default: the clock. */
  readonly now?: number;
}

/**
 * A certificate of the authority with a new key (RSA 2048), for servers or for clients, never for both.
 * @throws Error when the authority's PEM cannot be read
 */
export async function issueCertificate(authority: Identity, options: IssueOptions): Promise<Identity> {
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
