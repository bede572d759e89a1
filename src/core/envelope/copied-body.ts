import { encryptUnder, nonceBytes, openWhole } from './cipher.ts';

/*
 * A part whose body the store has copied from another object of format 2, under the key that it was written under. Its entry in the
 * part list says, behind a salt of its own, where in its source the body stands, and has that key sealed under the upload's DEK.
 */

/** Where segments stand in the body that they were written as. */
export interface BodyPlace {
  /** Part number; 0: an object in one piece. */
  readonly part: number;
  /** Index of the first segment. */
  readonly first: number;
  /** Whether the last segment is that of the body. */
  readonly ends: boolean;
}

/** An entry's `salt`, read. */
export interface CopiedBody extends BodyPlace {
  readonly salt: string;
  /** The key of the body, base64url. */
  readonly sealed: string;
}

const pattern =
  /^([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])\.(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})\.([01])\.([A-Za-z0-9_-]{64})$/;

/** @returns undefined for what has another form, a salt alone among them */
export function readCopiedBody(text: string): CopiedBody | undefined {
  const [, salt, part, first, ends, sealed] = pattern.exec(text) ?? [];
  if (salt === undefined || sealed === undefined) return undefined;
  return { salt, part: Number(part), first: Number(first), ends: ends === '1', sealed };
}

export const copiedBodyText = ({ salt, part, first, ends, sealed }: CopiedBody): string =>
  [salt, part, first, Number(ends), sealed].join('.');

/** From what the key that seals is derived, with the salt; each such key seals one. */
export const copiedInfo = (number: number): string => `svc/2/copied\n${number}\n`;

/** A place as it goes into what is derived and authenticated. */
export const placeText = ({ part, first, ends }: BodyPlace): string => `${part} ${first} ${Number(ends)}\n`;

const associatedWith = (place: BodyPlace): Buffer => Buffer.from(`svc/2/copied\n${placeText(place)}`);

/** The nonce is constant: nothing else is encrypted under `sealing`. */
const nonce = (): Buffer => Buffer.alloc(nonceBytes);

export function sealCopiedKey(sealing: Uint8Array, key: Buffer, place: BodyPlace): string {
  const encryption = encryptUnder(sealing, nonce(), associatedWith(place));
  return Buffer.concat([encryption.update(key), encryption.finish()]).toString('base64url');
}

/** @returns the key, which the caller zeroes. @throws EnvelopeError `authentication-failed` */
export function openCopiedKey(sealing: Uint8Array, body: CopiedBody): Buffer {
  const stored = Buffer.concat([nonce(), Buffer.from(body.sealed, 'base64url')]);
  return openWhole(stored, sealing, associatedWith(body));
}
