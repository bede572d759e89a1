import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';

export const publicKeyBytes = 32;

/** DER before the raw bytes of an X25519 key. */
const spki = Buffer.from('302a300506032b656e032100', 'hex');
const pkcs8 = Buffer.from('302e020100300506032b656e04220420', 'hex');

/** @param raw 32 bytes */
export const x25519PublicKey = (raw: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.concat([spki, raw]), format: 'der', type: 'spki' });

/** @param raw 32 bytes, zeroed by the caller */
export function x25519PrivateKey(raw: Uint8Array): KeyObject {
  const der = Buffer.concat([pkcs8, raw]);
  try {
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } finally {
    der.fill(0);
  }
}

/**
 * False for the few points that agree on zero with every private key (RFC 7748, 6.1): nothing can be sealed to them.
 */
export function isSealable(publicKey: KeyObject): boolean {
  try {
    diffieHellman({ privateKey: generateKeyPairSync('x25519').privateKey, publicKey }).fill(0);
    return true;
  } catch {
    return false;
  }
}

/** @returns 32 bytes; for a private key, its public half */
export const rawPublicKey = (key: KeyObject): Buffer => {
  const half = key.type === 'private' ? createPublicKey(key) : key;
  return half.export({ format: 'der', type: 'spki' }).subarray(spki.length);
};
