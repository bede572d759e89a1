import { s3Error } from './error-catalog.ts';

export interface ChunkHeader {
  size: number;
  signature?: string;
}

/** Eight digits: up to 4 GiB − 1, far above any SDK's chunk. */
const header = /^([0-9a-fA-F]{1,8})(?:;chunk-signature=([0-9a-f]{64}))?$/;

/** `size-in-hex`, with `;chunk-signature=` exactly where the body is signed. @throws S3Error InvalidRequest */
export function parseChunkHeader(line: string, signed: boolean): ChunkHeader {
  const [, digits, signature] = header.exec(line) ?? [];
  if (digits === undefined) throw s3Error('InvalidRequest', 'A chunk header is malformed.');
  const size = Number.parseInt(digits, 16);
  if (!signed) return { size };
  if (signature === undefined)
    throw s3Error('InvalidRequest', 'A chunk of a signed body carries no signature.');
  return { size, signature };
}

const trailer = /^(x-amz-[a-z0-9-]{1,64}):[ \t]*([\x21-\x7e]{0,256})[ \t]*\n?$/i;

/** Name in lower case, and value; minio-go puts a line feed before the CRLF. @throws S3Error MalformedTrailerError */
export function parseTrailerLine(line: string): [name: string, value: string] {
  const [, name, value] = trailer.exec(line) ?? [];
  if (name === undefined || value === undefined) throw s3Error('MalformedTrailerError');
  return [name.toLowerCase(), value];
}
