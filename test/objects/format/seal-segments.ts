import type { BodyKeys } from '../../../src/objects/format/body-keys.ts';
import { SegmentedEncryption } from '../../../src/objects/format/segments.ts';

/** Encrypts a plaintext that is in memory as a whole. */
export function sealSegments(keys: Pick<BodyKeys, 'key' | 'part'>, plaintext: Buffer): Buffer {
  const encryption = new SegmentedEncryption(keys, plaintext.length);
  return Buffer.concat([...encryption.pieces(plaintext), encryption.finish()]);
}
