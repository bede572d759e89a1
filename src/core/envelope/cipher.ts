import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type Decipheriv,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { EnvelopeError } from './error.ts';
import { nonceBytes, tagBytes } from './format.ts';

const cipherName = 'aes-256-gcm';

/**
 * Ciphers are made from key objects: from a buffer Node 24 takes ten times as long. OpenSSL has
 * a copy of the key either way, and wipes it when the cipher goes.
 */
const keyOf = (dek: Uint8Array): KeyObject => createSecretKey(dek);

export interface Encryption {
  readonly nonce: Buffer;
  update(plaintext: Uint8Array): Buffer;
  /** @returns the tag; the cipher is spent. */
  finish(): Buffer;
}

/** Encrypts one body under one DEK with a fresh random nonce. The caller zeroes the DEK when the body has ended. */
export function encryptBody(dek: Uint8Array): Encryption {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(cipherName, keyOf(dek), nonce, { authTagLength: tagBytes });
  return {
    nonce,
    update: (plaintext) => cipher.update(plaintext),
    finish: () => {
      cipher.final();
      return cipher.getAuthTag();
    },
  };
}

export interface Decryption {
  update(ciphertext: Uint8Array): Buffer;
  /** @throws EnvelopeError `authentication-failed` when any bit of the body was changed. */
  verify(tag: Uint8Array): void;
}

/** Decrypts one body. What `update` returns is not authenticated before `verify` has returned. */
export function decryptBody(dek: Uint8Array, nonce: Uint8Array): Decryption {
  const decipher = createDecipheriv(cipherName, keyOf(dek), nonce, { authTagLength: tagBytes });
  return {
    update: (ciphertext) => decipher.update(ciphertext),
    verify: (tag) => {
      try {
        decipher.setAuthTag(tag);
        decipher.final();
      } catch (cause) {
        throw new EnvelopeError(
          'authentication-failed',
          'the stored body does not authenticate under its key',
          { cause },
        );
      }
    },
  };
}

/**
 * Keystream access for a body that was verified before: decrypts from `offset`
 * plaintext bytes on. GCM is CTR with the counter of the data starting at 2
 * (NIST SP 800-38D, 7.1).
 */
export function decryptVerifiedFrom(dek: Uint8Array, nonce: Uint8Array, offset: number): Decipheriv {
  const counter = Buffer.alloc(16);
  counter.set(nonce);
  counter.writeUInt32BE((2 + Math.floor(offset / 16)) >>> 0, nonceBytes);
  const decipher = createDecipheriv('aes-256-ctr', keyOf(dek), counter);
  decipher.update(Buffer.alloc(offset % 16));
  return decipher;
}
