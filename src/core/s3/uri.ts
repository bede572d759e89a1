import { s3Error } from './error-catalog.ts';

const printableAscii = /^[\x21-\x7e]*$/;
const badEscape = /%(?![0-9A-Fa-f]{2})/;
const reservedByUs = /[!'()*]/g;

/**
 * Percent-decodes one component. `+` stays a plus sign.
 * @throws S3Error InvalidURI on raw characters outside printable ASCII, broken escapes, invalid UTF-8 and NUL.
 */
export function decodeStrict(text: string): string {
  if (!printableAscii.test(text)) throw s3Error('InvalidURI');
  if (!text.includes('%')) return text;
  if (badEscape.test(text)) throw s3Error('InvalidURI');
  const decoded = decodeUtf8(text);
  if (decoded.includes('\0')) throw s3Error('InvalidURI');
  return decoded;
}

function decodeUtf8(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw s3Error('InvalidURI', undefined, { cause });
  }
}

/** SigV4's URI encoding of one component: everything but `A-Z a-z 0-9 - . _ ~` is escaped, in upper case. */
export function encodeComponent(text: string): string {
  return encodeURIComponent(text).replace(
    reservedByUs,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

const unreservedKey = /^[A-Za-z0-9\-._~/]*$/;

/** The same for a key: `/` stays. */
export function encodeKey(key: string): string {
  if (unreservedKey.test(key)) return key;
  return encodeComponent(key).replaceAll('%2F', '/');
}
