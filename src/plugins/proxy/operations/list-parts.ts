import type { ObjectServices, OperationHandler, RequestContext } from '../../../objects/context.ts';
import type { EnvelopeFormat } from '../../../objects/format/body-format.ts';
import { bodyFormat } from '../../../objects/format/formats.ts';
import { partRecordId } from '../../../objects/format/records.ts';
import { memoryCosts } from '../../../objects/held-memory.ts';
import { openRecordedChecksums } from '../../../objects/multipart/verify-checksums.ts';
import type { Checksums } from '../../../objects/s3/checksum.ts';
import { S3Error } from '../../../objects/s3/error.ts';
import {
  outward,
  requestHeadersUpstream,
  responseHeadersDownstream,
  unquote,
} from '../../../objects/s3/headers.ts';
import { type Listing, type ListingEntry, rewriteListing, scanListing } from '../../../objects/s3/listing.ts';
import { typeOfUpload } from '../../../objects/s3/object-checksum.ts';
import { checksumElement } from '../../../objects/s3/request-documents.ts';
import { element } from '../../../objects/s3/xml-text.ts';
import { beginAnswer, readBody, refusal } from '../../../objects/upstream/upstream.ts';
import { readOrRelease, release } from '../../../runtime/memory.ts';
import { checksumKind } from './list-objects.ts';

const listingLimit = 4 * 1024 * 1024;

/** ListParts with plaintext sizes, and with plaintext checksums if the upload was created with an algorithm. */
export const listParts: OperationHandler = async (services, context) => {
  const { answer, memory, payload } = context;
  await payload.read(0);
  const listing = readOrRelease(await fetchParts(services, context), scanListing);
  try {
    const sums = await checksumsOf(services, context, listing);
    const edit = (entry: ListingEntry) => ({
      ...(entry.etag === undefined ? {} : { etag: outward(entry.etag) }),
      ...(entry.size === undefined ? {} : { size: sizeIn(sums.format, entry.size) }),
      ...sums.of(entry),
    });
    const xml = rewriteListing(listing, edit, sums.kind);
    answer.head(200, { 'content-type': 'application/xml' });
    await memory.atCallersPace('answers', () => answer.end(xml));
  } finally {
    release(listing.xml);
  }
};

const sizeIn = (format: EnvelopeFormat | undefined, stored: number): number =>
  bodyFormat(format).plaintextSize(stored) ?? stored;

async function fetchParts(
  { upstream }: ObjectServices,
  { request, answer, memory, signal }: RequestContext,
): Promise<Buffer> {
  const held = memory.of('answers');
  await beginAnswer(held);
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

/** Checksum elements for the parts of a page. */
interface PartSums {
  /** Format of the upload. */
  readonly format: EnvelopeFormat | undefined;
  readonly kind?: string;
  of(entry: ListingEntry): { added?: string };
}

async function checksumsOf(
  { uploads, keys, uploadKeys }: ObjectServices,
  { request, signal, memory }: RequestContext,
  { entries }: Listing,
): Promise<PartSums> {
  const uploadId = request.query.get('uploadId') ?? '';
  const name = { bucket: request.bucket, key: request.key };
  const upload = await uploads.find(name, uploadId, signal).catch(ofNoProxy);
  const format = upload?.format;
  if (upload?.checksum === undefined) return { format, of: () => ({}) };
  const { algorithm } = upload.checksum;
  await memory.of('records').take(entries.length * memoryCosts.listedPart);
  const records = await uploads.parts.find(upload, new Set(entries.map(idOf)));
  const opened = await openRecordedChecksums({ keys, uploadKeys }, upload, records);
  const sums = new Map<string, Checksums>();
  for (const [index, { part, etag }] of records.entries())
    sums.set(partRecordId(part.n, etag), opened[index] as Checksums);
  return {
    format,
    kind: checksumKind({ algorithm, type: typeOfUpload(upload.checksum) }),
    of(entry) {
      const digest = sums.get(idOf(entry))?.get(algorithm);
      return digest === undefined
        ? {}
        : { added: element(checksumElement(algorithm), digest.toString('base64')) };
    },
  };
}

/** Uploads that were not created through a proxy have no record; the store still lists them. */
function ofNoProxy(error: unknown): undefined {
  if (error instanceof S3Error && error.code === 'NoSuchUpload') return undefined;
  throw error;
}

const idOf = ({ partNumber = 0, etag = '' }: ListingEntry): string => partRecordId(partNumber, unquote(etag));
