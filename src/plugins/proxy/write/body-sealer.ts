import { BodyKeys, type Derivation, freshSalt } from '../../../core/envelope/body-keys.ts';
import { encryptBody, maxPlaintextBytes } from '../../../core/envelope/cipher.ts';
import type { EnvelopeFormat } from '../../../core/envelope/manifest.ts';
import {
  maxSegmentedPlaintext,
  SegmentedEncryption,
  UnsizedEncryption,
} from '../../../core/envelope/segments.ts';

/** What is kept of a body beside its DEK: in format 1 its nonce in base64. */
export type BodyProof = { readonly nonce: string } | Derivation;

/** Encrypts one body as its format has it. */
export interface BodySealer {
  /** What stands before the ciphertext. */
  readonly head: Buffer;
  /** The ciphertext of a chunk, in pieces that are good until the next is asked for. */
  pieces(plaintext: Buffer): Iterable<Buffer>;
  /** The end of the body. */
  finish(): Buffer;
  /** @param size of the plaintext in bytes */
  proof(size: number): BodyProof;
  /** Zeroes what is known of keys; at any time. */
  discard(): void;
}

interface BodyPlan {
  readonly format: EnvelopeFormat;
  /** Part number; 0: an object in one piece. */
  readonly part: number;
  /** Plaintext bytes; undefined: only the end will tell. */
  readonly size: number | undefined;
}

/** @param dek which the caller zeroes */
export function createSealer(dek: Uint8Array, { format, part, size }: BodyPlan): BodySealer {
  return format === 2 ? segmented(dek, part, size) : whole(dek);
}

/** Plaintext bytes that fit into one PUT or part. */
export const mostPlaintext = (format: EnvelopeFormat): number =>
  format === 2 ? maxSegmentedPlaintext : maxPlaintextBytes;

function whole(dek: Uint8Array): BodySealer {
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
}

/** Each `update` allocates what it returns: large chunks are encrypted piece by piece. */
const pieceBytes = 64 * 1024;

function segmented(dek: Uint8Array, part: number, size: number | undefined): BodySealer {
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
}
