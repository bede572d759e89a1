import { derivedKey, openText, sealText } from './cipher.ts';

/**
 * The MD5 of a plaintext as a caller names it, in the caller's spelling. Of an upload in parts it is known before them, so that
 * nothing of the object but its key can bind it.
 * @param key the DEK of an object in one piece, the seal key of one in parts
 * @param text a header's value: a byte a character
 * @returns base64url of `nonce || ciphertext || tag`
 */
export const sealMd5 = (key: Uint8Array, text: string): string =>
  sealText(derivedKey(key, purpose), associated, Buffer.from(text, 'latin1'));

/** @throws EnvelopeError `record-forged` */
export const openMd5 = (key: Uint8Array, sealed: string): string =>
  openText(derivedKey(key, purpose), associated, sealed, 'the MD5 kept with the object').toString('latin1');

const purpose = 'svc/named-md5/1';
const associated = `${purpose}\n`;
