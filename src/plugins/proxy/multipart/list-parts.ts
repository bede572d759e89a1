import { plaintextSize } from '../../../core/envelope/format.ts';
import { outward } from '../../../core/s3/etag.ts';
import { requestHeadersUpstream } from '../../../core/s3/headers.ts';
import { rewriteListing } from '../../../core/s3/list-rewrite.ts';
import { scanListing } from '../../../core/s3/list-scan.ts';
import type { Handler } from '../context.ts';
import { readBody } from '../upstream/read-body.ts';
import { refusal } from '../upstream/refusal.ts';

const listingLimit = 4 * 1024 * 1024;

/** ListParts with plaintext sizes; the store's checksums are of ciphertext and are left out. */
export const listParts: Handler = async (context, { request, answer, held, signal, payload }) => {
  await payload.read(0);
  await held.begin();
  const { bucket, key, query, headers } = request;
  const response = await context.upstream.send({
    method: 'GET',
    bucket,
    key,
    query: query.entries,
    headers: requestHeadersUpstream(headers),
    signal,
  });
  if (response.status !== 200) throw await refusal(response);
  const listing = scanListing((await readBody(response, listingLimit, held)).toString());
  const xml = rewriteListing(listing, ({ etag, size }) => ({
    ...(etag === undefined ? {} : { etag: outward(etag) }),
    ...(size === undefined ? {} : { size: plaintextSize(size) ?? size }),
  }));
  answer.head(200, { 'content-type': 'application/xml' });
  await answer.end(xml);
};
