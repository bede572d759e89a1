import type { BodyFormat, SegmentedPart } from './body-format.ts';
import {
  BodyKeys,
  type Derivation,
  freshSalt,
  isSaltOfPart,
  partChecksumKeyOf,
  sealKeyOf,
} from './body-keys.ts';
import {
  maxSegmentedPlaintext,
  openSegments,
  plaintextOfSegments,
  SegmentedEncryption,
  segmentedSize,
  UnsizedEncryption,
} from './segments.ts';

/** Segments of 64 KiB under a key derived for the body (ADR 15). The parts of an upload share its DEK. */
export const format2: BodyFormat<SegmentedPart, Derivation> = {
  id: 2,
  algorithm: 'AES-256-GCM-STREAM-64KiB',
  maxPlaintext: maxSegmentedPlaintext,
  derived: true,
  recordVersion: { plain: 4, summed: 4 },
  storedSize: segmentedSize,
  plaintextSize: plaintextOfSegments,
  sealer(dek, part, size) {
    const keys = new BodyKeys(dek, freshSalt(), part);
    const encryption = size === undefined ? new UnsizedEncryption(keys) : new SegmentedEncryption(keys, size);
    return {
      head: Buffer.alloc(0),
      pieces: (plaintext) => encryption.pieces(plaintext),
      finish: () => encryption.finish(),
      proof: (length) => ({ salt: keys.salt, commitment: keys.commitment(length) }),
      discard() {
        encryption.discard();
        keys.wipe();
      },
    };
  },
  openWhole(stored, dek, derivation) {
    const keys = BodyKeys.committed(dek, derivation, plaintextOfSegments(stored.length) ?? -1);
    try {
      return openSegments(keys, stored);
    } finally {
      keys.wipe();
    }
  },
  kept: (derivation) => ({ derivation }),
  listKey: sealKeyOf,
  checksumKey: (dek, upload, { salt }) => ({ key: partChecksumKeyOf(dek, upload), nonce: salt }),
  partOf: ({ n, size }, { salt, commitment }) => ({ entry: { n, salt, size }, commitment }),
  isPart: (value): value is SegmentedPart => isSaltOfPart((value as Partial<SegmentedPart>).salt),
  partProof: ({ salt }) => salt,
  partFields: ({ n, salt, size }) => ({ n, salt, size }),
};
