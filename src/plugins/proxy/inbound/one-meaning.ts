import type { IncomingMessage } from 'node:http';
import { s3Error } from '../../../core/s3/error-catalog.ts';

/**
 * Refuses heads that a server before or behind this one could read otherwise, and that `node:http` lets pass.
 * @throws S3Error InvalidRequest for other versions than HTTP/1.x, the one without a name included, and for several `Host` headers
 */
export function refuseAmbiguous({
  httpVersionMajor,
  rawHeaders,
}: Pick<IncomingMessage, 'httpVersionMajor' | 'rawHeaders'>): void {
  if (httpVersionMajor !== 1) throw s3Error('InvalidRequest', 'Only HTTP/1.0 and HTTP/1.1 are served.');
  if (hosts(rawHeaders) > 1) throw s3Error('InvalidRequest', 'The request has more than one Host header.');
}

/** Names and values stand in turn. */
function hosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
}
