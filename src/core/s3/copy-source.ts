import { s3Error } from './error-catalog.ts';
import { checkKey } from './target.ts';
import { decodeStrict, encodeComponent, encodeKey } from './uri.ts';

export interface CopySource {
  bucket: string;
  key: string;
  versionId?: string;
}

const form = /^\/?([A-Za-z0-9][A-Za-z0-9._-]{1,254})\/(.+)$/s;
const version = /^(.*)\?versionId=([^?&]+)$/s;

/**
 * `x-amz-copy-source`: `bucket/key` or `/bucket/key`, percent-encoded, with an optional `?versionId=`.
 * The whole may be encoded, slash included, as some clients have it.
 * @throws S3Error InvalidArgument
 */
export function parseCopySource(header: string): CopySource {
  const [, path = header, versionId] = version.exec(header) ?? [];
  const match = form.exec(decodePart(path));
  if (!match?.[1] || !match[2]) throw invalidSource();
  checkKey(match[2]);
  const source = { bucket: match[1], key: match[2] };
  return versionId === undefined ? source : { ...source, versionId: decodePart(versionId) };
}

/** The header's value for the store. */
export function copySourceHeader({ bucket, key, versionId }: CopySource): string {
  const path = `/${bucket}/${encodeKey(key)}`;
  return versionId === undefined ? path : `${path}?versionId=${encodeComponent(versionId)}`;
}

function decodePart(text: string): string {
  try {
    return decodeStrict(text);
  } catch (cause) {
    throw invalidSource(cause);
  }
}

function invalidSource(cause?: unknown) {
  return s3Error(
    'InvalidArgument',
    'Copy Source must mention the source bucket and key: sourcebucket/sourcekey',
    {
      details: { ArgumentName: 'x-amz-copy-source' },
      cause,
    },
  );
}
