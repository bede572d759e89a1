import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { publicKeyBytes, rawPublicKey, x25519PublicKey } from '../../runtime/recovery-recipients/x25519.ts';
import { discard, tagBytes } from './cipher.ts';

/*
 * HPKE (RFC 9180), base mode, one message: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM. Written over
 * `node:crypto`, because libraries use WebCrypto, which copies the sealed key into buffers that cannot be zeroed, and
 * holds the sealing keys in objects that wait for garbage collection.
 */

const kemId = Buffer.from('KEM\x00\x20', 'latin1');
const suiteId = Buffer.from('HPKE\x00\x20\x00\x01\x00\x02', 'latin1');
const version = Buffer.from('HPKE-v1', 'latin1');
const none = Buffer.alloc(0);

/** Bytes that a sealed message is longer than the message. */
export const hpkeOverhead = publicKeyBytes + tagBytes;

/**
 * @param info must be equal when opening
 * @returns encapsulated key, ciphertext and tag, concatenated
 */
export function hpkeSeal(recipient: KeyObject, info: Uint8Array, message: Uint8Array): Buffer {
  const ephemeral = generateKeyPairSync('x25519');
  const enc = rawPublicKey(ephemeral.publicKey);
  return withContext(ephemeral.privateKey, recipient, [enc, rawPublicKey(recipient)], info, (key, nonce) => {
    const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
    try {
      const ciphertext = cipher.update(message);
      cipher.final();
      return Buffer.concat([enc, ciphertext, cipher.getAuthTag()]);
    } finally {
      discard(cipher);
    }
  });
}

/**
 * The message in its own memory, zeroed by the caller; undefined if it was modified, or sealed for another recipient or
 * with another info.
 */
export function hpkeOpen(identity: KeyObject, info: Uint8Array, sealed: Uint8Array): Buffer | undefined {
  if (sealed.length < hpkeOverhead) return undefined;
  const enc = sealed.subarray(0, publicKeyBytes);
  const [body, tag] = [sealed.subarray(publicKeyBytes, -tagBytes), sealed.subarray(-tagBytes)];
  const message = Buffer.from(new ArrayBuffer(body.length));
  try {
    return withContext(identity, x25519PublicKey(enc), [enc, rawPublicKey(identity)], info, (key, nonce) => {
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
      const plain = decipher.update(body);
      message.set(plain);
      plain.fill(0);
      decipher.setAuthTag(tag);
      decipher.final();
      return message;
    });
  } catch {
    message.fill(0);
    return undefined;
  }
}

/** Derives key and nonce, and zeroes them afterwards. @throws Error for a public key of small order */
function withContext<T>(
  privateKey: KeyObject,
  publicKey: KeyObject,
  kemContext: readonly Uint8Array[],
  info: Uint8Array,
  use: (key: Buffer, nonce: Buffer) => T,
): T {
  const secrets: Buffer[] = [];
  const keep = (secret: Buffer) => {
    secrets.push(secret);
    return secret;
  };
  try {
    const dh = keep(diffieHellman({ privateKey, publicKey }));
    const prk = keep(extract(kemId, none, 'eae_prk', dh));
    const shared = keep(expand(kemId, prk, 'shared_secret', Buffer.concat(kemContext), 32));
    const context = Buffer.concat([
      Buffer.of(0),
      extract(suiteId, none, 'psk_id_hash', none),
      extract(suiteId, none, 'info_hash', info),
    ]);
    const secret = keep(extract(suiteId, shared, 'secret', none));
    const key = keep(expand(suiteId, secret, 'key', context, 32));
    return use(key, keep(expand(suiteId, secret, 'base_nonce', context, 12)));
  } finally {
    for (const secret of secrets) secret.fill(0);
  }
}

const extract = (suite: Buffer, salt: Uint8Array, label: string, input: Uint8Array): Buffer =>
  createHmac('sha256', salt).update(version).update(suite).update(label).update(input).digest();

/** HKDF-Expand of one block; `length` is at most 32. */
const expand = (suite: Buffer, prk: Buffer, label: string, info: Uint8Array, length: number): Buffer =>
  createHmac('sha256', prk)
    .update(Buffer.of(0, length))
    .update(version)
    .update(suite)
    .update(label)
    .update(info)
    .update(Buffer.of(1))
    .digest()
    .subarray(0, length);
