/** A data key as transit hands it out: `vault:v<version>:<base64>`. */
export interface ParsedWrappedKey {
  /** Key version of the KEK, from 1 on. */
  readonly keyVersion: number;
  /** Standard base64 with padding, canonical. */
  readonly payload: string;
}

/** Longest text that is looked at; a wrapped 32-byte key has about 90 characters. */
export const maxWrappedKeyLength = 1024;

const pattern = /^vault:v([1-9]\d{0,8}):(.+)$/;

/** Answers undefined for anything that transit would not have written. */
export function parseWrappedKey(text: string): ParsedWrappedKey | undefined {
  if (text.length > maxWrappedKeyLength) return undefined;
  const match = pattern.exec(text);
  const [, version, payload] = match ?? [];
  if (version === undefined || payload === undefined || !isCanonicalBase64(payload)) return undefined;
  return { keyVersion: Number(version), payload };
}

const canonicalBase64 =
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)$/;

/** True where decoding and encoding again gives the same text. Decodes nothing: the text may be a key. */
export const isCanonicalBase64 = (text: string): boolean => canonicalBase64.test(text);
