import { plaintextSize } from '../../../core/envelope/cipher.ts';
import type { Checksums } from '../../../core/s3/checksum.ts';
import { S3Error } from '../../../core/s3/error.ts';
import {
  outward,
  requestHeadersUpstream,
  responseHeadersDownstream,
  unquote,
} from '../../../core/s3/headers.ts';
import { type Listing, type ListingEntry, rewriteListing } from '../../../core/s3/listing.ts';
import { typeOfUpload } from '../../../core/s3/object-checksum.ts';
import { checksumElement } from '../../../core/s3/request-documents.ts';
import { element } from '../../../core/s3/xml-text.ts';
import { release } from '../../../runtime/memory.ts';
import type { OperationHandler, ProxyServices, RequestContext } from '../context.ts';
import { openRecordedChecksums } from '../multipart/verify-checksums.ts';
import { readBody, refusal } from '../upstream/upstream.ts';
import { checksumKind, scanned } from './list-objects.ts';

const listingLimit = 4 * 1024 * 1024;

/** ListParts with plaintext sizes and, of an upload that was begun with an algorithm, with checksums of the plaintext. */
export const listParts: OperationHandler = async (services, context) => {
  const { answer, payload } = context;
  await payload.read(0);
  const listing = scanned(await fetchParts(services, context));
  try {
    const sums = await checksumsOf(services, context, listing);
    const edit = (entry: ListingEntry) => ({
      ...(entry.etag === undefined ? {} : { etag: outward(entry.etag) }),
      ...(entry.size === undefined ? {} : { size: plaintextSize(entry.size) ?? entry.size }),
      ...sums.of(entry),
    });
    const xml = rewriteListing(listing, edit, sums.kind);
    answer.head(200, { 'content-type': 'application/xml' });
    await answer.end(xml);
  } finally {
    release(listing.xml.bytes);
  }
};

async function fetchParts(
  { upstream }: ProxyServices,
  { request, answer, held, signal }: RequestContext,
): Promise<Buffer> {
  await held.begin();
  const { bucket, key, query, headers } = request;
  const response = await upstream.send({
    method: 'GET',
    bucket,
    key,
    query: query.entries,
    headers: requestHeadersUpstream(headers),
    signal,
  });
  if (response.status !== 200) throw await refusal(response);
  answer.head(200, responseHeadersDownstream(response.headers));
  return readBody(response, listingLimit, held);
}

/** What the parts of a page have of checksums, as elements. */
interface PartSums {
  readonly kind?: string;
  of(entry: ListingEntry): { added?: string };
}

async function checksumsOf(
  { uploads, keys }: ProxyServices,
  { request, signal }: RequestContext,
  { entries }: Listing,
): Promise<PartSums> {
  const uploadId = request.query.get('uploadId') ?? '';
  const name = { bucket: request.bucket, key: request.key };
  const upload = await uploads.find(name, uploadId, signal).catch(ofNoProxy);
  if (upload?.checksum === undefined) return { of: () => ({}) };
  const { algorithm } = upload.checksum;
  const shown = new Set(entries.map(idOf));
  const records = (await uploads.parts(upload)).filter(({ part, etag }) => shown.has(`${part.n} ${etag}`));
  const opened = await openRecordedChecksums(keys, upload, records);
  const sums = new Map<string, Checksums>();
  for (const [index, { part, etag }] of records.entries())
    sums.set(`${part.n} ${etag}`, opened[index] as Checksums);
  return {
    kind: checksumKind({ algorithm, type: typeOfUpload(upload.checksum) }),
    of(entry) {
      const digest = sums.get(idOf(entry))?.get(algorithm);
      return digest === undefined
        ? {}
        : { added: element(checksumElement(algorithm), digest.toString('base64')) };
    },
  };
}

/** The store knows an upload that was begun past the proxy. */
function ofNoProxy(error: unknown): undefined {
  if (error instanceof S3Error && error.code === 'NoSuchUpload') return undefined;
  throw error;
}

const idOf = ({ partNumber, etag = '' }: ListingEntry): string => `${partNumber} ${unquote(etag)}`;
