import type { BodyFormat, PartEntry } from './body-format.ts';
import {
  algorithmName,
  encryptBody,
  maxPlaintextBytes,
  nonceBytes,
  openWhole,
  plaintextSize,
  storedSize,
} from './cipher.ts';

/** Each `update` allocates its result, so large chunks are encrypted piece by piece. */
const pieceBytes = 64 * 1024;

/** One AES-256-GCM over the whole body: `nonce || ciphertext || tag`. Each part has a DEK of its own. */
export const format1: BodyFormat<PartEntry, { readonly nonce: string }> = {
  id: 1,
  algorithm: algorithmName,
  maxPlaintext: maxPlaintextBytes,
  derived: false,
  recordVersion: { plain: 2, summed: 3 },
  storedSize,
  plaintextSize,
  sealer(dek) {
    const { nonce, update, finish, discard } = encryptBody(dek);
    return {
      head: nonce,
      *pieces(plaintext) {
        for (let start = 0; start < plaintext.length; start += pieceBytes)
          yield update(plaintext.subarray(start, start + pieceBytes));
      },
      finish,
      proof: () => ({ nonce: nonce.toString('base64') }),
      discard,
    };
  },
  openWhole: (stored, dek) => openWhole(stored, dek),
  kept: () => ({}),
  listKey: (unwrapped) => unwrapped,
  checksumKey: (dek, _upload, { nonce }) => ({ key: dek, nonce }),
  partOf: ({ n, dek, size }, { nonce }) => ({ entry: { n, dek, nonce, size }, commitment: undefined }),
  isPart(value): value is PartEntry {
    const { dek, nonce, recovery } = value as Partial<PartEntry>;
    return (
      isWrappedKey(dek) &&
      typeof nonce === 'string' &&
      Buffer.from(nonce, 'base64').length === nonceBytes &&
      isPartRecovery(recovery)
    );
  },
  partProof: ({ nonce, dek }) => `${nonce} ${dek}`,
  partFields: ({ n, dek, nonce, size, recovery }) => ({ n, dek, nonce, size, recovery }),
};

/** 60 bytes. */
const isPartRecovery = (value: unknown): boolean =>
  value === undefined || (typeof value === 'string' && /^[A-Za-z0-9_-]{80}$/.test(value));

export const isWrappedKey = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length < 1024 &&
  /^vault:v[1-9]\d{0,9}:[A-Za-z0-9+/]+={0,2}$/.test(value);
