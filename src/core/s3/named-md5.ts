import type { IncomingHttpHeaders } from 'node:http';

/** Under this name rclone keeps the MD5 of an object whose ETag is none, and looks for it. */
export const md5Metadata = 'x-amz-meta-md5chksum';

/** The MD5 of a plaintext that its writer names. */
export interface NamedMd5 {
  /** Mostly base64 of 16 bytes; metadata have it in the caller's spelling. */
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
  if (own) return { headers, named: { md5: own, from: 'metadata' } };
  const md5 = all['content-md5'];
  return { headers: forwarded, named: typeof md5 === 'string' ? { md5, from: 'content-md5' } : undefined };
}
