import { responseHeadersDownstream } from '../../../core/s3/headers.ts';
import type { StoredBody } from './encrypt-to-store.ts';

const objectSize = 'x-amz-object-size';

/** The store's answer to a write as the caller gets it: ETag outward, sizes of plaintext. */
export function writeAnswer({ headers, size }: Pick<StoredBody, 'headers' | 'size'>): Record<string, string> {
  const answer = responseHeadersDownstream(headers);
  if (answer[objectSize] !== undefined) answer[objectSize] = String(size);
  return answer;
}
