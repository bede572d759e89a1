import { createHash } from 'node:crypto';
import { ImageError } from './image-error.ts';

/** Hexadecimal digits by algorithm: those that the kubelet knows. */
const digits: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };

/** `sha256:…` in lower case, of the right length, with an algorithm that can be checked. */
export function isDigest(text: string): boolean {
  const [, algorithm = '', hex = ''] = /^([a-z0-9]+):([0-9a-f]+)$/.exec(text) ?? [];
  return Object.hasOwn(digits, algorithm) && hex.length === digits[algorithm];
}

export function digestOf(bytes: Uint8Array, algorithm = 'sha256'): string {
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}

/** @throws ImageError unless the bytes are those that the digest names */
export function verifyDigest(bytes: Uint8Array, digest: string): void {
  if (!isDigest(digest)) throw new ImageError('a digest is not one of sha256, sha384 or sha512');
  const found = digestOf(bytes, digest.slice(0, digest.indexOf(':')));
  if (found !== digest) throw new ImageError(`the content of ${digest} has another digest, ${found}`);
}
