import { isReservedMetadata } from '../envelope/metadata.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const userPrefix = 'x-amz-meta-';

/** Bytes of user metadata that S3 takes. */
export const maxUserMetadata = 2048;

/** User metadata as S3 counts it: bytes of names without `x-amz-meta-`, and of values. Header values are byte strings. */
export function userMetadataSize(headers: Headers): number {
  let size = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(userPrefix) && value !== undefined)
      size += name.length - userPrefix.length + String(value).length;
  }
  return size;
}

/** The caller's own metadata: what a caller puts under the name of ours is left out. */
export function userMetadata(headers: Headers): Record<string, string> {
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(userPrefix) && !isReservedMetadata(name) && value !== undefined)
      own[name] = String(value);
  }
  return own;
}
