import { outward } from '../../../core/s3/etag.ts';
import { requestHeadersUpstream, responseHeadersDownstream } from '../../../core/s3/headers.ts';
import type { Listing } from '../../../core/s3/list-entry.ts';
import { type EntryEdit, rewriteListing } from '../../../core/s3/list-rewrite.ts';
import { scanListing } from '../../../core/s3/list-scan.ts';
import type { Exchange, Handler, ProxyContext } from '../context.ts';
import { readBody } from '../upstream/read-body.ts';
import { refusal } from '../upstream/refusal.ts';
import { plaintextSizes } from './plaintext-sizes.ts';
import {
  isWhollyReserved,
  type ListingOperation,
  type QueryEntries,
  queryBehind,
  withOwnEcho,
} from './reserved-page.ts';
import type { SizeCache } from './size-cache.ts';

/** 1,000 keys of 1,024 bytes, each byte escaped, with all that S3 says of an object. */
const listingLimit = 8 * 1024 * 1024;

/** A listing without the reserved keys, with plaintext sizes and the ETags that callers know. */
export const createListHandler =
  (operation: ListingOperation, cache: SizeCache): Handler =>
  async (context, exchange) => {
    await exchange.payload.read(0);
    const listing = await callersPage(operation, context, exchange);
    const { bucket } = exchange.request;
    const { reservedPrefix } = context.config;
    const shown = listing.entries.filter(({ key }) => !key.startsWith(reservedPrefix));
    const sizes = await plaintextSizes(context, cache, bucket, shown, exchange.signal);
    const xml = rewriteListing(listing, (entry): EntryEdit => {
      if (entry.key.startsWith(reservedPrefix)) return { drop: true };
      const size = sizes.get(entry);
      return {
        ...(entry.etag === undefined ? {} : { etag: outward(entry.etag) }),
        ...(size === undefined ? {} : { size }),
      };
    });
    exchange.answer.head(200, { 'content-type': 'application/xml' });
    await exchange.answer.end(xml);
  };

/** The page that was asked for, or the one behind the reserved keys when it holds nothing else. */
async function callersPage(
  operation: ListingOperation,
  context: ProxyContext,
  exchange: Exchange,
): Promise<Listing> {
  const { reservedPrefix } = context.config;
  const query = exchange.request.query.entries;
  const listing = scanListing(await fetchListing(context, exchange, query));
  if (!isWhollyReserved(listing, reservedPrefix)) return listing;
  const behind = await fetchListing(context, exchange, queryBehind(operation, query, reservedPrefix));
  return scanListing(withOwnEcho(operation, query, behind));
}

async function fetchListing(
  { upstream }: ProxyContext,
  { request, answer, held, signal }: Exchange,
  query: QueryEntries,
): Promise<string> {
  const { bucket, headers } = request;
  const forwarded = requestHeadersUpstream(headers);
  await held.begin();
  const response = await upstream.send({
    method: 'GET',
    bucket,
    key: '',
    query,
    headers: forwarded,
    signal,
  });
  if (response.status !== 200) throw await refusal(response);
  answer.head(200, responseHeadersDownstream(response.headers));
  return (await readBody(response, listingLimit, held)).toString();
}
