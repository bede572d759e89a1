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
 * Ciphers are made from the bytes of a key. A KeyObject keeps a copy until it is collected, which may take minutes. The
 * cipher's own copy is zeroed as soon as it is finished, hence `discard` for one that never is.
 */

export interface Encryption {
  readonly nonce: Buffer;
  update(plaintext: Uint8Array): Buffer;
  /** @returns the tag; the cipher is spent. */
  finish(): Buffer;
  /** Zeroes what the cipher knows of the key. Harmless once it is spent. */
  discard(): void;
}

/**
 * Encrypts one body under one DEK with a fresh random nonce. The caller zeroes the DEK when the body has ended.
 * @param associated data that decrypting wants again; bodies have none
 */
export function encryptBody(dek: Uint8Array, associated?: Uint8Array): Encryption {
  return encryptUnder(dek, randomBytes(nonceBytes), associated);
}

/** The same with a nonce that the caller never uses again under this key. */
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
  /** @throws EnvelopeError `authentication-failed` when any bit of the body was changed. */
  verify(tag: Uint8Array): void;
  /** Zeroes what the cipher knows of the key. Harmless after `verify`. */
  discard(): void;
}

/** Decrypts one body. What `update` returns is not authenticated before `verify` has returned. */
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
 * The plaintext of a stored body that is here as a whole. The caller zeroes the DEK.
 * @throws EnvelopeError `authentication-failed`
 */
export const openWhole = (stored: Buffer, dek: Uint8Array, associated?: Uint8Array): Buffer =>
  openUnder(dek, stored.subarray(0, nonceBytes), stored.subarray(nonceBytes), associated);

/**
 * The same where the nonce is known: the counterpart of `encryptUnder`.
 * @param sealed ciphertext and tag. @throws EnvelopeError `authentication-failed`
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

/** A key for one purpose, by HKDF-Expand with SHA-256 of one block: `key` is uniform already. The caller zeroes it. */
export const derivedKey = (key: Uint8Array, purpose: string): Buffer =>
  createHmac('sha256', key).update(purpose).update(Buffer.of(1)).digest();

/** What goes into a name or a header: base64url of `nonce || ciphertext || tag`. */
export function sealText(key: Uint8Array, associated: string, plain: Uint8Array): string {
  const { nonce, update, finish } = encryptBody(key, Buffer.from(associated));
  return Buffer.concat([nonce, update(plain), finish()]).toString('base64url');
}

/** @param what it is, for the error. @throws EnvelopeError `record-forged` for what was not sealed under this key with these data */
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
 * Node 24 finds out that the bytes of a key are no KeyObject by two exceptions, whose stack traces take 7 µs of the 10 that
 * making a cipher takes, and more than half of what an HMAC does.
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

/** OpenSSL forgets the key at the end of a cipher, however it ends. */
export function discard(cipher: Cipheriv | Decipheriv): void {
  try {
    cipher.final();
  } catch {
    // It had ended before, or its tag was never checked: what it gave is of no use to anybody.
  }
}

/**
 * Keystream access for a body that was verified before: decrypts from `offset`
 * plaintext bytes on. GCM is CTR with the counter of the data starting at 2
 * (NIST SP 800-38D, 7.1). To be ended by `discard`.
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
/** The store takes at most so many bytes in one PUT or part. */
export const maxStoredBytes = 5 * 1024 ** 3;
export const maxPlaintextBytes = maxStoredBytes - overheadBytes;

/** @returns stored size in bytes of a plaintext of `size` bytes. */
export const storedSize = (size: number): number => size + overheadBytes;

/** @returns plaintext size of a stored body, or undefined when it is too short to be one. */
export const plaintextSize = (stored: number): number | undefined =>
  stored < overheadBytes ? undefined : stored - overheadBytes;

/**
 * Stored metadata, a manifest or a body that is not what the proxy wrote.
 * `reason` is a stable word for metrics; the message never holds data.
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
