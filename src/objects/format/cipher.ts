import {
  type Cipheriv,
  createCipheriv,
  createDecipheriv,
  createHmac,
  type Decipheriv,
  randomBytes,
} from 'node:crypto';

const cipherName = 'aes-256-gcm';

/*
 * Ciphers are created from key bytes, because a KeyObject keeps a copy until it is garbage-collected, which may take
 * minutes. The cipher's own copy is zeroed when it finishes; `discard` is for ciphers that never do.
 */

export interface Encryption {
  readonly nonce: Buffer;
  update(plaintext: Uint8Array): Buffer;
  /** @returns the tag; the cipher cannot be used any more */
  finish(): Buffer;
  /** Zeroes the cipher's key material. Harmless after `finish`. */
  discard(): void;
}

/**
 * Encrypts one body under one DEK with a fresh random nonce. The caller zeroes the DEK at the end of the body.
 * @param associated data that decryption requires again; bodies have none
 */
export function encryptBody(dek: Uint8Array, associated?: Uint8Array): Encryption {
  return encryptUnder(dek, randomBytes(nonceBytes), associated);
}

/** Encrypts with a given nonce, which must never be used again under this key. */
export function encryptUnder(dek: Uint8Array, nonce: Buffer, associated?: Uint8Array): Encryption {
  const cipher = withoutStackTraces(() =>
    createCipheriv(cipherName, dek, nonce, { authTagLength: tagBytes }),
  );
  if (associated !== undefined) cipher.setAAD(associated);
  return {
    nonce,
    update: (plaintext) => cipher.update(plaintext),
    finish: () => {
      cipher.final();
      return cipher.getAuthTag();
    },
    discard: () => discard(cipher),
  };
}

export interface Decryption {
  update(ciphertext: Uint8Array): Buffer;
  /** @throws EnvelopeError `authentication-failed` if any bit of the body was changed */
  verify(tag: Uint8Array): void;
  /** Zeroes the cipher's key material. Harmless after `verify`. */
  discard(): void;
}

/** Decrypts one body. The output of `update` is not authenticated before `verify` has returned. */
export function decryptBody(dek: Uint8Array, nonce: Uint8Array, associated?: Uint8Array): Decryption {
  const decipher = withoutStackTraces(() =>
    createDecipheriv(cipherName, dek, nonce, { authTagLength: tagBytes }),
  );
  if (associated !== undefined) decipher.setAAD(associated);
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
    discard: () => discard(decipher),
  };
}

/**
 * Decrypts a stored body that is in memory as a whole. The caller zeroes the DEK.
 * @throws EnvelopeError `authentication-failed`
 */
export const openWhole = (stored: Buffer, dek: Uint8Array, associated?: Uint8Array): Buffer =>
  openUnder(dek, stored.subarray(0, nonceBytes), stored.subarray(nonceBytes), associated);

/**
 * Decrypts with a known nonce: the counterpart of `encryptUnder`.
 * @param sealed ciphertext and tag
 * @throws EnvelopeError `authentication-failed`
 */
export function openUnder(
  dek: Uint8Array,
  nonce: Uint8Array,
  sealed: Buffer,
  associated?: Uint8Array,
): Buffer {
  const decryption = decryptBody(dek, nonce, associated);
  const end = sealed.length - tagBytes;
  const plaintext = decryption.update(sealed.subarray(0, end));
  decryption.verify(sealed.subarray(end));
  return plaintext;
}

/**
 * Derives a key for one purpose, by one block of HKDF-Expand with SHA-256, since `key` is already uniform. The caller
 * zeroes it.
 */
export const derivedKey = (key: Uint8Array, purpose: string): Buffer =>
  createHmac('sha256', key).update(purpose).update(Buffer.of(1)).digest();

/** Encrypts for a name or a header: base64url of `nonce || ciphertext || tag`. */
export function sealText(key: Uint8Array, associated: string, plain: Uint8Array): string {
  const { nonce, update, finish } = encryptBody(key, Buffer.from(associated));
  return Buffer.concat([nonce, update(plain), finish()]).toString('base64url');
}

/**
 * @param what names the text in the error
 * @throws EnvelopeError `record-forged` unless it was sealed under this key with these data
 */
export function openText(key: Uint8Array, associated: string, sealed: string, what: string): Buffer {
  const bytes = Buffer.from(sealed, 'base64url');
  try {
    if (bytes.length >= overheadBytes) return openWhole(bytes, key, Buffer.from(associated));
  } catch (cause) {
    throw forged(what, cause);
  }
  throw forged(what);
}

const forged = (what: string, cause?: unknown) =>
  new EnvelopeError('record-forged', `${what} is not what was written for it`, { cause });

/**
 * Node 24 recognizes that key bytes are not a KeyObject by two exceptions, whose stack traces take 7 µs of the 10 for
 * creating a cipher, and more than half of an HMAC.
 */
export function withoutStackTraces<T>(create: () => T): T {
  const usual = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return create();
  } finally {
    Error.stackTraceLimit = usual;
  }
}

/** OpenSSL clears the key when a cipher ends, even with an error. */
export function discard(cipher: Cipheriv | Decipheriv): void {
  try {
    cipher.final();
  } catch {
    // the cipher had already ended, or the tag was never checked, so nobody uses its output
  }
}

/**
 * Random access to a body that was verified before: decrypts from plaintext byte `offset`. GCM is CTR with a counter
 * that starts at 2 for the data (NIST SP 800-38D, 7.1). Call `discard` at the end.
 */
export function decryptVerifiedFrom(dek: Uint8Array, nonce: Uint8Array, offset: number): Decipheriv {
  const counter = Buffer.alloc(16);
  counter.set(nonce);
  counter.writeUInt32BE((2 + Math.floor(offset / 16)) >>> 0, nonceBytes);
  const decipher = createDecipheriv('aes-256-ctr', dek, counter);
  decipher.update(Buffer.alloc(offset % 16));
  return decipher;
}

/** Stored body of an object or a part: `nonce || ciphertext || tag` (specification, "Encrypted body format"). */
export const nonceBytes = 12;
export const tagBytes = 16;
export const overheadBytes = nonceBytes + tagBytes;
export const dekBytes = 32;
export const algorithmName = 'AES-256-GCM';
/** Limit of stores for one PUT or part. */
export const maxStoredBytes = 5 * 1024 ** 3;
export const maxPlaintextBytes = maxStoredBytes - overheadBytes;

/** @returns stored bytes for a plaintext of `size` bytes */
export const storedSize = (size: number): number => size + overheadBytes;

/** @returns plaintext bytes of a stored body; undefined if it is too short to be one */
export const plaintextSize = (stored: number): number | undefined =>
  stored < overheadBytes ? undefined : stored - overheadBytes;

/**
 * Stored metadata, a manifest or a body that the proxy cannot have written. `reason` is a stable word for metrics; the
 * message never contains data.
 */
export class EnvelopeError extends Error {
  override readonly name = 'EnvelopeError';
  readonly reason: EnvelopeFault;

  constructor(reason: EnvelopeFault, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}

export type EnvelopeFault =
  | 'partial-metadata'
  | 'malformed-metadata'
  | 'unbound'
  | 'foreign-key'
  | 'unencrypted'
  | 'manifest-missing'
  | 'manifest-forged'
  | 'record-forged'
  | 'wrong-size'
  | 'wrong-commitment'
  | 'not-recoverable'
  | 'authentication-failed';
