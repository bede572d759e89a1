import type { IncomingMessage } from 'node:http';
import { s3Error } from '../../../core/s3/error-catalog.ts';

/**
 * Refuses heads that a server before or behind this one could read otherwise, and that `node:http` lets pass.
 * @throws S3Error InvalidRequest for other versions than HTTP/1.x, the one without a name included, for several `Host`
 *   headers, and for names such as `x-amz-copy_source`, which some stores take for `x-amz-copy-source`
 */
export function refuseAmbiguous({
  httpVersionMajor,
  rawHeaders,
}: Pick<IncomingMessage, 'httpVersionMajor' | 'rawHeaders'>): void {
  if (httpVersionMajor !== 1) throw s3Error('InvalidRequest', 'Only HTTP/1.0 and HTTP/1.1 are served.');
  if (hosts(rawHeaders) > 1) throw s3Error('InvalidRequest', 'The request has more than one Host header.');
  const odd = names(rawHeaders).find((name) => /^x-amz-/i.test(name) && !plain.test(name));
  if (odd !== undefined)
    throw s3Error('InvalidRequest', `The header ${odd.slice(0, 100)} could be taken for another one.`);
}

/** User metadata may have any name; what of it could be taken for the proxy's own is left out later. */
const plain = /^x-amz-(?:[a-z0-9-]+|meta-.*)$/i;

const hosts = (rawHeaders: readonly string[]): number =>
  names(rawHeaders).filter((name) => name.length === 4 && name.toLowerCase() === 'host').length;

/** Names and values stand in turn. */
const names = (rawHeaders: readonly string[]): string[] => rawHeaders.filter((_, at) => at % 2 === 0);
