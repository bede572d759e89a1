import forge from 'node-forge';
import { backdatedMs, compose } from './compose.ts';
import type { Identity } from './identity.ts';
import { rsaKeyPair } from './key-pair.ts';

const dayMs = 86_400_000;

export interface AuthorityOptions {
  /** Another one for each authority: those who verify pick the issuer by its name first. */
  readonly commonName: string;
  /** How long it is valid from now on. */
  readonly days: number;
  /** In milliseconds since 1970; default: the clock. */
  readonly now?: number;
}

/** A self-signed authority that issues certificates of servers and clients, and no further authorities. RSA 3072. */
export async function createAuthority({
  commonName,
  days,
  now = Date.now(),
}: AuthorityOptions): Promise<Identity> {
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

/** As forge makes it for `subjectKeyIdentifier`. */
function keyIdentifierOf(key: forge.pki.rsa.PublicKey): string {
  return forge.pki.getPublicKeyFingerprint(key, { type: 'RSAPublicKey' }).getBytes();
}
