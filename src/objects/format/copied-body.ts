import { encryptUnder, nonceBytes, openWhole } from './cipher.ts';

/*
 * A part whose body the store copied from another object of format 2, still under its original key. The part's entry
 * in the part list has, after its own salt, the body's place in the source and the body's key, sealed under the
 * upload's DEK.
 */

/** Position of segments in the body that they were written as part of. */
export interface BodyPlace {
  /** Part number; 0: an object in one piece. */
  readonly part: number;
  /** Index of the first segment. */
  readonly first: number;
  /** Whether the last segment ends the body. */
  readonly ends: boolean;
}

/** A part entry's `salt`, parsed. */
export interface CopiedBody extends BodyPlace {
  readonly salt: string;
  /** The body's key, sealed; base64url. */
  readonly sealed: string;
}

const pattern =
  /^([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])\.(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})\.([01])\.([A-Za-z0-9_-]{64})$/;

/** @returns undefined for any other form, such as a plain salt */
export function readCopiedBody(text: string): CopiedBody | undefined {
  const [, salt, part, first, ends, sealed] = pattern.exec(text) ?? [];
  if (salt === undefined || sealed === undefined) return undefined;
  return { salt, part: Number(part), first: Number(first), ends: ends === '1', sealed };
}

export const copiedBodyText = ({ salt, part, first, ends, sealed }: CopiedBody): string =>
  [salt, part, first, Number(ends), sealed].join('.');

/** Info for deriving, with the salt, the key that seals the body's key; each such key seals only one. */
export const copiedInfo = (number: number): string => `svc/2/copied\n${number}\n`;

/** A place, as used in derivation and authentication. */
export const placeText = ({ part, first, ends }: BodyPlace): string => `${part} ${first} ${Number(ends)}\n`;

const associatedWith = (place: BodyPlace): Buffer => Buffer.from(`svc/2/copied\n${placeText(place)}`);

/** The nonce is constant, because each `sealing` key encrypts only once. */
const nonce = (): Buffer => Buffer.alloc(nonceBytes);

export function sealCopiedKey(sealing: Uint8Array, key: Buffer, place: BodyPlace): string {
  const encryption = encryptUnder(sealing, nonce(), associatedWith(place));
  return Buffer.concat([encryption.update(key), encryption.finish()]).toString('base64url');
}

/** @returns the key; the caller zeroes it. @throws EnvelopeError `authentication-failed` */
export function openCopiedKey(sealing: Uint8Array, body: CopiedBody): Buffer {
  const stored = Buffer.concat([nonce(), Buffer.from(body.sealed, 'base64url')]);
  return openWhole(stored, sealing, associatedWith(body));
}
