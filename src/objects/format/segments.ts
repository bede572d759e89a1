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
 * Bodies of format 2 (ADR 15): segments of 64 KiB, each AES-256-GCM with its own tag, under a key derived from the DEK
 * and the body's salt. The last segment is marked in its nonce.
 */

/** Plaintext bytes of each segment except the last. */
export const segmentBytes = 64 * 1024;
export const storedSegmentBytes: number = segmentBytes + tagBytes;

/** @returns stored bytes for a plaintext of `size` bytes; an empty one has no segment */
export const segmentedSize = (size: number): number => size + tagBytes * segmentsOf(size);

const segmentsOf = (size: number): number => Math.ceil(size / segmentBytes);

/** @returns plaintext bytes of a stored body; undefined if no body has this length */
export function plaintextOfSegments(stored: number): number | undefined {
  const segments = Math.ceil(stored / storedSegmentBytes);
  const size = stored - segments * tagBytes;
  return segmentedSize(size) === stored ? size : undefined;
}

/** Stores accept at most 5 GiB in one PUT or part, including the tags. */
export const maxSegmentedPlaintext: number = plaintextOfSegments(maxStoredBytes) as number;

/** Range of segments; `end` is exclusive. */
export interface SegmentSpan {
  /** Segment indexes. */
  readonly first: number;
  readonly end: number;
  /** Byte offsets in the stored body. */
  readonly from: number;
  readonly to: number;
}

/** The segments that cover `take` plaintext bytes from byte `skip` in a body of `size` bytes; empty if `take` is 0. */
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

/** The key of a body; for a copied body, also the place of its segments. */
type SegmentKeys = Pick<BodyKeys, 'key' | 'part'> & Partial<BodyPlace>;

/** Encrypts and decrypts the segments of one body, in any order. */
export class Segments {
  readonly #key: Uint8Array;
  readonly #first: number;
  readonly #ends: boolean;
  readonly #nonce = Buffer.alloc(nonceBytes);
  readonly #associated = Buffer.from('svc/2\n\0\0\0\0\0\0\0\0\0\0', 'latin1');

  /** @param key zeroed by the caller after use */
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

  /** Ciphers copy nonce and associated data, so both buffers are reused. */
  #place(index: number, last: boolean): void {
    this.#nonce.writeUInt32BE(this.#first + index, nonceBytes - 5);
    this.#nonce[nonceBytes - 1] = last && this.#ends ? 1 : 0;
    this.#associated.writeUInt32BE(this.#first + index, 12);
  }
}

/**
 * Decrypts a stored body that is in memory as a whole.
 * @throws EnvelopeError `authentication-failed`, `wrong-size`
 */
export function openSegments(keys: SegmentKeys, stored: Buffer): Buffer {
  const size = plaintextOfSegments(stored.length);
  if (size === undefined) throw new EnvelopeError('wrong-size', 'no stored body has this length');
  const pieces = [...openSpan(keys, stored, coveringSegments(size, 0, size), size)];
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
}

/**
 * Decrypts adjacent segments that are in memory as a whole, one by one.
 * @param size plaintext bytes of their body
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

/** Encrypts a body of known size while it arrives. */
export class SegmentedEncryption {
  readonly #segments: Segments;
  readonly #size: number;
  #current: Encryption | undefined;
  #done = 0;

  /** @param size plaintext bytes */
  constructor(keys: SegmentKeys, size: number) {
    this.#segments = new Segments(keys);
    this.#size = size;
  }

  /** The ciphertext, with the tags of segments that end within. @throws RangeError for more plaintext than announced */
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

  /** The last tag; empty for an empty body. @throws RangeError for less plaintext than announced */
  finish(): Buffer {
    if (this.#done !== this.#size) throw new RangeError('less plaintext than was announced');
    return this.#current === undefined ? Buffer.alloc(0) : this.#end();
  }

  /** Zeroes a cipher's key material. Harmless after `finish`. */
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

/**
 * Encrypts a body of unknown size. Each segment is held back until the next begins, since only the end tells which is
 * the last.
 */
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
