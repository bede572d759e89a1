import type { BodyKeys } from './body-keys.ts';
import {
  type Encryption,
  EnvelopeError,
  encryptUnder,
  maxStoredBytes,
  nonceBytes,
  openUnder,
  tagBytes,
} from './cipher.ts';
import type { BodyPlace } from './copied-body.ts';

/*
 * Bodies of format 2 (ADR 15): segments of 64 KiB, each of them AES-256-GCM with a tag of its own, under a key that is
 * derived from the DEK and a salt of the body. The last segment is marked as such in its nonce.
 */

/** Plaintext bytes of each segment but the last. */
export const segmentBytes = 64 * 1024;
export const storedSegmentBytes: number = segmentBytes + tagBytes;

/** @returns stored size in bytes of a plaintext of `size` bytes: an empty one has no segment. */
export const segmentedSize = (size: number): number => size + tagBytes * segmentsOf(size);

const segmentsOf = (size: number): number => Math.ceil(size / segmentBytes);

/** @returns plaintext size of a stored body, or undefined where none has that length. */
export function plaintextOfSegments(stored: number): number | undefined {
  const segments = Math.ceil(stored / storedSegmentBytes);
  const size = stored - segments * tagBytes;
  return segmentedSize(size) === stored ? size : undefined;
}

/** The store takes at most 5 GiB in one PUT or part, the tags included. */
export const maxSegmentedPlaintext: number = plaintextOfSegments(maxStoredBytes) as number;

/** Where segments lie; `end` is exclusive. */
export interface SegmentSpan {
  /** The segments by index. */
  readonly first: number;
  readonly end: number;
  /** Bytes of the stored body. */
  readonly from: number;
  readonly to: number;
}

/** The segments that cover `take` bytes from plaintext byte `skip` on, of a body of `size` bytes; none for nothing. */
export function coveringSegments(size: number, skip: number, take: number): SegmentSpan {
  const first = Math.floor(skip / segmentBytes);
  const end = take === 0 ? first : segmentsOf(skip + take);
  return {
    first,
    end,
    from: Math.min(first * storedSegmentBytes, segmentedSize(size)),
    to: Math.min(end * storedSegmentBytes, segmentedSize(size)),
  };
}

/** The key of a body; of one that was copied, also where its segments stood. */
type SegmentKeys = Pick<BodyKeys, 'key' | 'part'> & Partial<BodyPlace>;

/** Encrypts and decrypts the segments of one body, in any order. */
export class Segments {
  readonly #key: Uint8Array;
  readonly #first: number;
  readonly #ends: boolean;
  readonly #nonce = Buffer.alloc(nonceBytes);
  readonly #associated = Buffer.from('svc/2\n\0\0\0\0\0\0\0\0\0\0', 'latin1');

  /** @param key which the caller zeroes when it is done */
  constructor({ key, part, first = 0, ends = true }: SegmentKeys) {
    this.#key = key;
    this.#first = first;
    this.#ends = ends;
    this.#associated.writeUInt16BE(part, 6);
  }

  encryption(index: number, last: boolean): Encryption {
    this.#place(index, last);
    return encryptUnder(this.#key, this.#nonce, this.#associated);
  }

  /** @param stored one segment with its tag. @throws EnvelopeError `authentication-failed` */
  open(index: number, last: boolean, stored: Buffer): Buffer {
    this.#place(index, last);
    return openUnder(this.#key, this.#nonce, stored, this.#associated);
  }

  /** Ciphers copy both. */
  #place(index: number, last: boolean): void {
    this.#nonce.writeUInt32BE(this.#first + index, nonceBytes - 5);
    this.#nonce[nonceBytes - 1] = last && this.#ends ? 1 : 0;
    this.#associated.writeUInt32BE(this.#first + index, 12);
  }
}

/** The stored body of a plaintext that is here as a whole. */
export function sealSegments(keys: SegmentKeys, plaintext: Buffer): Buffer {
  const encryption = new SegmentedEncryption(keys, plaintext.length);
  return Buffer.concat([...encryption.pieces(plaintext), encryption.finish()]);
}

/**
 * The plaintext of a stored body that is here as a whole.
 * @throws EnvelopeError `authentication-failed`, `wrong-size`
 */
export function openSegments(keys: SegmentKeys, stored: Buffer): Buffer {
  const size = plaintextOfSegments(stored.length);
  if (size === undefined) throw new EnvelopeError('wrong-size', 'no stored body has this length');
  const pieces = [...openSpan(keys, stored, coveringSegments(size, 0, size), size)];
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
}

/**
 * Plaintexts, one by one, of segments that lie side by side and are here as a whole.
 * @param size plaintext bytes of the body that they are of
 * @throws EnvelopeError `authentication-failed`
 */
export function* openSpan(
  keys: SegmentKeys,
  stored: Buffer,
  { first, end }: Pick<SegmentSpan, 'first' | 'end'>,
  size: number,
): Generator<Buffer, void> {
  const segments = new Segments(keys);
  const last = segmentsOf(size) - 1;
  for (let index = first; index < end; index++) {
    const at = (index - first) * storedSegmentBytes;
    yield segments.open(index, index === last, stored.subarray(at, at + storedSegmentBytes));
  }
}

/** Encrypts a body of known size while it comes. */
export class SegmentedEncryption {
  readonly #segments: Segments;
  readonly #size: number;
  #current: Encryption | undefined;
  #done = 0;

  /** @param size of the plaintext in bytes */
  constructor(keys: SegmentKeys, size: number) {
    this.#segments = new Segments(keys);
    this.#size = size;
  }

  /** The ciphertext, and the tags of segments that end within. @throws RangeError for more than was announced */
  *pieces(plaintext: Buffer): Generator<Buffer, void> {
    if (this.#done + plaintext.length > this.#size) throw new RangeError('more plaintext than was announced');
    for (let at = 0; at < plaintext.length; ) {
      this.#current ??= this.#begin();
      const left = segmentBytes - (this.#done % segmentBytes);
      const piece = plaintext.subarray(at, at + left);
      at += piece.length;
      this.#done += piece.length;
      yield this.#current.update(piece);
      if (piece.length === left && this.#done < this.#size) yield this.#end();
    }
  }

  /** The last tag; nothing for an empty body. @throws RangeError for less than was announced */
  finish(): Buffer {
    if (this.#done !== this.#size) throw new RangeError('less plaintext than was announced');
    return this.#current === undefined ? Buffer.alloc(0) : this.#end();
  }

  /** Zeroes what a cipher knows of the key. Harmless after `finish`. */
  discard(): void {
    this.#current?.discard();
    this.#current = undefined;
  }

  #begin(): Encryption {
    const index = Math.floor(this.#done / segmentBytes);
    return this.#segments.encryption(index, index === segmentsOf(this.#size) - 1);
  }

  #end(): Buffer {
    const tag = (this.#current as Encryption).finish();
    this.#current = undefined;
    return tag;
  }
}

/** The same where only the end tells which segment is the last: each stays here until the next begins. */
export class UnsizedEncryption {
  readonly #segments: Segments;
  readonly #held = Buffer.allocUnsafeSlow(segmentBytes);
  #filled = 0;
  #index = 0;

  constructor(keys: SegmentKeys) {
    this.#segments = new Segments(keys);
  }

  *pieces(plaintext: Buffer): Generator<Buffer, void> {
    for (let at = 0; at < plaintext.length; ) {
      if (this.#filled === segmentBytes) yield this.#seal(false);
      const copied = plaintext.copy(this.#held, this.#filled, at);
      this.#filled += copied;
      at += copied;
    }
  }

  finish(): Buffer {
    return this.#filled === 0 ? Buffer.alloc(0) : this.#seal(true);
  }

  discard(): void {
    this.#held.fill(0);
  }

  #seal(last: boolean): Buffer {
    const encryption = this.#segments.encryption(this.#index++, last);
    const ciphertext = encryption.update(this.#held.subarray(0, this.#filled));
    this.#filled = 0;
    return Buffer.concat([ciphertext, encryption.finish()]);
  }
}
