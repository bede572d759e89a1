import { randomBytes } from 'node:crypto';
import type { PartEntry } from '../../src/objects/format/body-format.ts';
import { type PartList, sealMac } from '../../src/objects/format/manifest.ts';

export const wrapped = (version = 1): string => `vault:v${version}:${randomBytes(60).toString('base64')}`;

export const partEntry = (n: number, size = 5 * 1024 * 1024): PartEntry => ({
  n,
  dek: wrapped(),
  nonce: randomBytes(12).toString('base64'),
  size,
});

/** A sealed list of `count` parts under `sealKey`. */
export function partList(count: number, sealKey: Uint8Array = Buffer.alloc(32, 7)): PartList {
  const manifest = randomBytes(16).toString('base64url');
  const parts = Array.from({ length: count }, (_, index) => partEntry(index + 1));
  return { manifest, parts, seal: wrapped(), mac: sealMac(sealKey, manifest, parts) };
}
