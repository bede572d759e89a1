import { createHmac, type Hmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { dekBytes, EnvelopeError, withoutStackTraces } from './cipher.ts';
import {
  type BodyPlace,
  type CopiedBody,
  copiedBodyText,
  copiedInfo,
  openCopiedKey,
  placeText,
  readCopiedBody,
  sealCopiedKey,
} from './copied-body.ts';

const saltBytes = 32;

/** A salt for a new body. */
export const freshSalt = (): string => randomBytes(saltBytes).toString('base64url');

/** What a reader of a body needs besides its DEK; base64url. */
export interface Derivation {
  /** Random, new for each body. */
  readonly salt: string;
  /** Proves DEK, salt, part number and plaintext size. */
  readonly commitment: string;
}

/** 32 bytes in base64url; unused bits are zero, so that each value has a single text. */
export const isDerivationText = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/.test(value);

/** The salt of a part, alone or with the fields of a body that was copied from another object. */
export const isSaltOfPart = (value: unknown): value is string =>
  isDerivationText(value) || (typeof value === 'string' && readCopiedBody(value) !== undefined);

/** The keys of one body, in the clear until `wipe`. */
export class BodyKeys implements BodyPlace {
  /** As in the part list. */
  readonly salt: string;
  readonly part: number;
  readonly first: number;
  readonly ends: boolean;
  readonly #number: number;
  readonly #copied: CopiedBody | undefined;
  readonly #extracted: Buffer;
  #key: Buffer | undefined;

  /**
   * Derives by HKDF-SHA-512. The caller zeroes the DEK.
   * @param number part number; 0 for an object in one piece
   */
  constructor(dek: Uint8Array, salt: string, number: number) {
    this.#copied = readCopiedBody(salt);
    this.salt = salt;
    this.#number = number;
    const { part, first, ends } = this.#copied ?? { part: number, first: 0, ends: true };
    this.part = part;
    this.first = first;
    this.ends = ends;
    this.#extracted = extract(Buffer.from(this.#copied?.salt ?? salt, 'base64url'), dek);
  }

  /** Keys of an object in one piece; the caller zeroes the DEK. @throws EnvelopeError `wrong-commitment` */
  static committed(dek: Uint8Array, derivation: Derivation | undefined, size: number): BodyKeys {
    if (derivation === undefined) throw new TypeError('the object has no derived key');
    const keys = new BodyKeys(dek, derivation.salt, 0);
    try {
      keys.verify(derivation.commitment, size);
      return keys;
    } catch (error) {
      keys.wipe();
      throw error;
    }
  }

  /**
   * Key of the segments, derived or opened on first use.
   * @throws EnvelopeError `authentication-failed` for a copied body whose key was sealed for another part or place
   */
  get key(): Buffer {
    this.#key ??=
      this.#copied === undefined
        ? expand(this.#extracted, `svc/2/key\n${this.#number}\n`)
        : this.#openCopied(this.#copied);
    return this.#key;
  }

  /**
   * The salt of a part that consists of copied segments of this body. It is deterministic: the store gives a repeated
   * copy the same ETag, and clients repeat requests whose answers they lost.
   * @param dek of the part's upload
   * @param number part number
   */
  copiedTo(dek: Uint8Array, number: number, { first, ends }: Pick<BodyPlace, 'first' | 'ends'>): string {
    const place = { part: this.part, first: this.first + first, ends: this.ends && ends };
    const salt = saltOfCopy(dek, this.key, number, place);
    const extracted = extract(Buffer.from(salt, 'base64url'), dek);
    const sealing = expand(extracted, copiedInfo(number));
    try {
      return copiedBodyText({ salt, ...place, sealed: sealCopiedKey(sealing, this.key, place) });
    } finally {
      sealing.fill(0);
      extracted.fill(0);
    }
  }

  /** @param size plaintext bytes */
  commitment(size: number): string {
    return this.#committed(size).toString('base64url');
  }

  /**
   * @throws EnvelopeError `wrong-commitment` unless the body was written under this DEK, as this part, with this size
   */
  verify(commitment: string, size: number): void {
    if (this.proves(commitment, size)) return;
    throw new EnvelopeError('wrong-commitment', 'the body was not written under this key with this length');
  }

  /** Whether the commitment matches a body of this size. */
  proves(commitment: string, size: number): boolean {
    const stored = Buffer.from(commitment, 'base64url');
    const expected = this.#committed(size);
    return stored.length === expected.length && timingSafeEqual(stored, expected);
  }

  wipe(): void {
    this.#key?.fill(0);
    this.#extracted.fill(0);
  }

  #openCopied(body: CopiedBody): Buffer {
    const sealing = expand(this.#extracted, copiedInfo(this.#number));
    try {
      return openCopiedKey(sealing, body);
    } finally {
      sealing.fill(0);
    }
  }

  /** For a copied body it covers every field of the salt. */
  #committed(size: number): Buffer {
    const copied = this.#copied === undefined ? '' : `${copiedBodyText(this.#copied)}\n`;
    return expand(this.#extracted, `svc/2/commitment\n${this.#number}\n${size}\n${copied}`);
  }
}

/** 32 bytes that cannot be told from random ones without the DEK. */
function saltOfCopy(dek: Uint8Array, key: Uint8Array, number: number, place: BodyPlace): string {
  const extracted = extract(Buffer.from(copiedInfo(number)), dek);
  try {
    return createHmac('sha256', extracted).update(placeText(place)).update(key).digest('base64url');
  } finally {
    extracted.fill(0);
  }
}

/** Key of an upload's part list, create record and checksums, derived from its DEK. The caller zeroes both. */
export const sealKeyOf = (dek: Uint8Array, upload: string): Buffer => ofUpload(dek, upload, 'svc/2/seal\n');

/** Key of the checksums in an upload's part records, derived from its DEK. The caller zeroes both. */
export const partChecksumKeyOf = (dek: Uint8Array, upload: string): Buffer =>
  ofUpload(dek, upload, 'svc/2/part-checksums\n');

function ofUpload(dek: Uint8Array, upload: string, info: string): Buffer {
  const extracted = extract(Buffer.from(upload), dek);
  try {
    return expand(extracted, info);
  } finally {
    extracted.fill(0);
  }
}

const extract = (salt: Uint8Array, dek: Uint8Array): Buffer => hmac(salt).update(dek).digest();

const hmac = (key: Uint8Array): Hmac => withoutStackTraces(() => createHmac('sha512', key));

/** HKDF-Expand (RFC 5869) of half a block, into memory that garbage collection does not move. */
function expand(extracted: Uint8Array, info: string): Buffer {
  const block = hmac(extracted).update(info).update(Buffer.of(1)).digest();
  const key = Buffer.from(new ArrayBuffer(dekBytes));
  block.copy(key);
  block.fill(0);
  return key;
}
