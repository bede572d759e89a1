import type { IncomingHttpHeaders } from 'node:http';

/** Under this name rclone keeps the MD5 of an object whose ETag is none, and looks for it. */
export const md5Metadata = 'x-amz-meta-md5chksum';

/** The MD5 of a plaintext that its writer names. */
export interface NamedMd5 {
  /** Base64 of 16 bytes. */
  readonly md5: string;
  /** `metadata`: it is the caller's own metadata, which must not get lost. */
  readonly from: 'metadata' | 'content-md5';
}

/**
 * Takes the MD5 out of what goes to the store in the clear: with it, whoever has the store can tell which of the files that
 * they know an object is.
 * @param forwarded the caller's headers for the store
 * @param all the caller's headers; Content-MD5 counts where the metadata name none
 */
export function takeNamedMd5(
  forwarded: Readonly<Record<string, string>>,
  all: IncomingHttpHeaders,
): { readonly headers: Readonly<Record<string, string>>; readonly named: NamedMd5 | undefined } {
  const { [md5Metadata]: own, ...headers } = forwarded;
  if (own !== undefined)
    return isMd5(own)
      ? { headers, named: { md5: own, from: 'metadata' } }
      : { headers: forwarded, named: undefined };
  const md5 = all['content-md5'];
  return {
    headers: forwarded,
    named: typeof md5 === 'string' && isMd5(md5) ? { md5, from: 'content-md5' } : undefined,
  };
}

/** In the one spelling that decoding and encoding give back. */
const isMd5 = (text: string): boolean =>
  /^[A-Za-z0-9+/]{22}==$/.test(text) && Buffer.from(text, 'base64').toString('base64') === text;
