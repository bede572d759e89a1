import type { Derivation } from './body-keys.ts';

/** 1: a body is encrypted in one piece. 2: in segments, under a key derived for the body. */
export type EnvelopeFormat = 1 | 2;

/** One part of a multipart object, in the order of the stored body. */
export interface PartEntry {
  readonly n: number;
  /** Wrapped DEK, `vault:vN:…`. */
  readonly dek: string;
  /** Base64 of 12 bytes. */
  readonly nonce: string;
  /** Plaintext bytes. */
  readonly size: number;
  /** The DEK sealed under the seal key by `sealPartForRecovery`, if there are recovery keys. */
  readonly recovery?: string;
}

/** One part of a multipart object in format 2, whose parts share a DEK. */
export interface SegmentedPart {
  readonly n: number;
  /** Derives the body's key or, for a copied body, opens it. */
  readonly salt: string;
  /** Plaintext bytes. */
  readonly size: number;
}

/** What is kept to read a body besides its DEK; in format 1 its nonce in base64. */
export type BodyProof = { readonly nonce: string } | Derivation;

/** Encrypts one body in its format. */
export interface BodySealer {
  /** Bytes before the ciphertext. */
  readonly head: Buffer;
  /** The ciphertext of a chunk in pieces; a piece is valid until the next is requested. */
  pieces(plaintext: Buffer): Iterable<Buffer>;
  /** Bytes after the ciphertext. */
  finish(): Buffer;
  /** @param size plaintext bytes */
  proof(size: number): BodyProof;
  /** Zeroes key material; may be called at any time. */
  discard(): void;
}

/**
 * How bodies, and the lists of their parts, are stored. Chosen once for an object by `bodyFormat`; whatever differs
 * between the formats and is no stream stands here.
 */
export interface BodyFormat<Part = PartEntry | SegmentedPart, Proof = BodyProof> {
  readonly id: EnvelopeFormat;
  /** Its name in stored metadata; a reader that knows only the other format refuses it. */
  readonly algorithm: string;
  /** Maximum plaintext bytes in one PUT or part. */
  readonly maxPlaintext: number;
  /**
   * Whether the key of a body is derived, by what the metadata keep. Otherwise an empty plaintext has a seal, which
   * the metadata of a folder keep.
   */
  readonly derived: boolean;
  /** Version of the create records of its uploads; with a checksum, if that differs. */
  readonly recordVersion: { readonly plain: number; readonly summed: number };
  /** @returns stored bytes for a plaintext of this size */
  storedSize(plaintext: number): number;
  /** @returns plaintext bytes; undefined if no stored body has this length */
  plaintextSize(stored: number): number | undefined;
  /**
   * @param dek zeroed by the caller
   * @param part part number; 0 for an object in one piece
   * @param size plaintext bytes; undefined if only known at the end
   */
  sealer(dek: Uint8Array, part: number, size: number | undefined): BodySealer;
  /**
   * Decrypts an object in one piece that is in memory as a whole. The caller zeroes the DEK.
   * @throws EnvelopeError `authentication-failed`, `wrong-commitment`, `wrong-size`
   */
  openWhole(stored: Buffer, dek: Buffer, derivation: Derivation | undefined): Buffer;
  /** What the metadata of an object in one piece keep of its body. */
  kept(proof: Proof): { readonly derivation?: Derivation };
  /** Key of a part list, from the unwrapped key that stands in it; the caller zeroes both. */
  listKey(unwrapped: Buffer, upload: string): Buffer;
  /** Key of the checksums in a part's record, which is zeroed after use, and the name of the body they are sealed for. */
  checksumKey(dek: Buffer, upload: string, proof: Proof): { readonly key: Buffer; readonly nonce: string };
  partOf(
    written: Omit<SegmentedPart, 'salt'> & { readonly dek: string },
    proof: Proof,
  ): { readonly entry: Part; readonly commitment: string | undefined };
  isPart(value: object): value is Part & object;
  /** What the MAC of a part list covers of a part, besides its number and size. */
  partProof(part: Part): string;
  /** The part as stored in a list, with fields in fixed order. */
  partFields(part: Part): object;
}
