import type { IncomingHttpHeaders } from 'node:http';
import type { ObjectName } from '../../../core/envelope/binding.ts';
import { storedSize } from '../../../core/envelope/format.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import { unquote } from '../../../core/s3/etag.ts';
import type { ProxyContext } from '../context.ts';
import type { StoredBody } from './encrypt-to-store.ts';

/**
 * For stores that check no trailing checksum: looks whether the whole body was kept.
 * @throws S3Error 503 when it was not
 */
export async function verifyStored(
  { upstream, log }: Pick<ProxyContext, 'upstream' | 'log'>,
  name: ObjectName,
  stored: StoredBody,
  headers: IncomingHttpHeaders,
): Promise<void> {
  const {
    status,
    headers: kept,
    body,
  } = await upstream.send({
    method: 'HEAD',
    ...name,
    query: versionOf(stored),
    headers: customerKey(headers),
  });
  body.resume();
  if (status !== 200 || unquote(kept.etag ?? '') !== stored.etag) return replacedMeanwhile(log, status);
  if (Number(kept['content-length']) === storedSize(stored.size)) return;
  throw s3Error('ServiceUnavailable', 'The object store did not keep the whole body. Please retry.');
}

/** Somebody else's write or delete came right after: nothing is left to look at. */
function replacedMeanwhile(log: ProxyContext['log'], status: number): void {
  log.info('proxy.write.unverified', { status });
}

function versionOf({ headers }: StoredBody): [string, string][] {
  const version = headers['x-amz-version-id'];
  return typeof version === 'string' ? [['versionId', version]] : [];
}

const customerKeyPrefix = 'x-amz-server-side-encryption-customer-';

/** Without them the store answers no HEAD of an object that it has encrypted under the caller's key. */
function customerKey(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string] =>
        entry[0].startsWith(customerKeyPrefix) && typeof entry[1] === 'string',
    ),
  );
}
