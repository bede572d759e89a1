import { createCipheriv, createHash } from 'node:crypto';

const zeroCounter = Buffer.alloc(16);

/** So many bytes that look random and follow from the name alone, so that nothing need be kept to compare with. */
export function bytesOf(name: string, length: number): Buffer {
  const key = createHash('sha256').update(name).digest();
  return createCipheriv('aes-256-ctr', key, zeroCounter).update(Buffer.alloc(length));
}
