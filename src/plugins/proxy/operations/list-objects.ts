import type { ObjectServices, OperationHandler, RequestContext } from '../../../objects/context.ts';
import { EnvelopeError, overheadBytes } from '../../../objects/format/cipher.ts';
import { plaintextListSize } from '../../../objects/format/manifest.ts';
import { type Envelope, readEnvelope } from '../../../objects/format/metadata.ts';
import { plaintextOfSegments } from '../../../objects/format/segments.ts';
import {
  outward,
  requestHeadersUpstream,
  responseHeadersDownstream,
  unquote,
} from '../../../objects/s3/headers.ts';
import {
  type EntryEdit,
  type Listing,
  type ListingEntry,
  rewriteListing,
  scanListing,
} from '../../../objects/s3/listing.ts';
import type { UploadChecksum } from '../../../objects/s3/object-checksum.ts';
import { encodeComponent } from '../../../objects/s3/request.ts';
import { element } from '../../../objects/s3/xml-text.ts';
import { beginAnswer, readBody, refusal } from '../../../objects/upstream/upstream.ts';
import { BoundedMap } from '../../../runtime/bounds/bounded-map.ts';
import { concurrently } from '../../../runtime/lifecycle/wait.ts';
import { readOrRelease, release } from '../../../runtime/memory.ts';

/** Fits 1,000 keys of 1,024 bytes, each byte escaped, with everything that S3 reports of an object. */
const listingLimit = 8 * 1024 * 1024;

/** Lists objects without reserved keys, with plaintext sizes and the ETags that callers know. */
export const createListHandler =
  (operation: ListingOperation, cache: PlaintextCache): OperationHandler =>
  async (services, context) => {
    await context.payload.read(0);
    const listing = await callersPage(operation, services, context);
    try {
      await answerListing(listing, cache, services, context);
    } finally {
      release(listing.xml);
    }
  };

async function answerListing(
  listing: Listing,
  cache: PlaintextCache,
  services: ObjectServices,
  { request: { bucket }, answer, memory, signal }: RequestContext,
): Promise<void> {
  const { reservedPrefix } = services.config;
  const shown = listing.entries.filter(({ key }) => !key.startsWith(reservedPrefix));
  const shownOf = await plaintexts(services, cache, bucket, shown, signal);
  const xml = rewriteListing(listing, (entry): EntryEdit => {
    if (entry.key.startsWith(reservedPrefix)) return { drop: true };
    const { size, checksum } = shownOf.get(entry) ?? {};
    return {
      ...(entry.etag === undefined ? {} : { etag: outward(entry.etag) }),
      ...(size !== undefined && { size }),
      ...(checksum !== undefined && { added: checksumKind(checksum) }),
    };
  });
  answer.head(200, { 'content-type': 'application/xml' });
  await memory.atCallersPace('answers', () => answer.end(xml));
}

/** The part of a checksum that listings show. */
export const checksumKind = ({ algorithm, type }: Required<UploadChecksum>): string =>
  element('ChecksumAlgorithm', algorithm.toUpperCase()) + element('ChecksumType', type);

/** The requested page, or the one after the reserved keys if it holds nothing else. */
async function callersPage(
  operation: ListingOperation,
  services: ObjectServices,
  context: RequestContext,
): Promise<Listing> {
  const { reservedPrefix } = services.config;
  const query = context.request.query.entries;
  const listing = readOrRelease(await fetchListing(services, context, query), scanListing);
  if (!isWhollyReserved(listing, reservedPrefix)) return listing;
  release(listing.xml);
  const behind = await fetchListing(services, context, queryBehind(operation, query, reservedPrefix));
  return readOrRelease(withOwnEcho(operation, query, behind), scanListing);
}

async function fetchListing(
  { upstream }: ObjectServices,
  { request, answer, memory, signal }: RequestContext,
  query: QueryEntries,
): Promise<Buffer> {
  const { bucket, headers } = request;
  const forwarded = requestHeadersUpstream(headers);
  const held = memory.of('answers');
  await beginAnswer(held);
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
  return readBody(response, listingLimit, held);
}

type QueryEntries = readonly (readonly [name: string, value: string])[];

/** How to resume a listing: the parameter, the parameters it replaces, and the element that echoes it. */
interface Resumption {
  readonly parameter: string;
  readonly replaced: readonly string[];
  readonly echo: string;
}

type ListingOperation = 'ListObjects' | 'ListObjectsV2' | 'ListObjectVersions' | 'ListMultipartUploads';

const resumptions: Readonly<Record<ListingOperation, Resumption>> = {
  ListObjects: { parameter: 'marker', replaced: [], echo: 'Marker' },
  ListObjectsV2: { parameter: 'start-after', replaced: ['continuation-token'], echo: 'StartAfter' },
  ListObjectVersions: { parameter: 'key-marker', replaced: ['version-id-marker'], echo: 'KeyMarker' },
  ListMultipartUploads: { parameter: 'key-marker', replaced: ['upload-id-marker'], echo: 'KeyMarker' },
};

/** True for a truncated page with reserved entries only, which would be shown empty. */
export function isWhollyReserved({ entries, isTruncated, xml }: Listing, reservedPrefix: string): boolean {
  if (entries.length === 0 || isTruncated === undefined) return false;
  if (xml.toString('utf8', isTruncated.start, isTruncated.end).trim() !== 'true') return false;
  return entries.every(({ key }) => key.startsWith(reservedPrefix));
}

/** The query that resumes after the reserved keys, which are ASCII and sort before `~`. */
export function queryBehind(
  operation: ListingOperation,
  query: QueryEntries,
  reservedPrefix: string,
): QueryEntries {
  const { parameter, replaced } = resumptions[operation];
  const kept = query.filter(([name]) => name !== parameter && !replaced.includes(name));
  return [...kept, [parameter, `${reservedPrefix}~`]];
}

/** Replaces the echo of the resuming query by the caller's own parameter. */
export function withOwnEcho(operation: ListingOperation, query: QueryEntries, xml: Buffer): Buffer {
  const { parameter, echo } = resumptions[operation];
  const start = xml.indexOf(`<${echo}>`);
  const close = xml.indexOf('<', start + 1);
  const end = close + `</${echo}>`.length;
  if (start < 0 || xml.toString('latin1', close, end) !== `</${echo}>`) return xml;
  const own = query.find(([name]) => name === parameter)?.[1];
  const encoded = query.some(([name, value]) => name === 'encoding-type' && value === 'url');
  const text = own === undefined ? '' : element(echo, encoded ? encodeComponent(own) : own);
  const edited = Buffer.concat([xml.subarray(0, start), Buffer.from(text), xml.subarray(end)]);
  release(xml);
  return edited;
}

const headsAtOnce = 16;
/** Minimum size of a part in S3; a smaller object has a single part. */
const leastPart = 5 * 1024 * 1024;

type SizedEntry = ListingEntry & { readonly size: number; readonly etag: string };

/** Properties of a plaintext that listings show. */
interface ShownPlaintext {
  /** Plaintext bytes. */
  readonly size: number;
  readonly checksum?: Required<UploadChecksum>;
}

/** For entries of one bucket; entries not in the result keep their stored size. */
async function plaintexts(
  services: ObjectServices,
  cache: PlaintextCache,
  bucket: string,
  entries: readonly ListingEntry[],
  signal: AbortSignal,
): Promise<ReadonlyMap<ListingEntry, ShownPlaintext>> {
  const sizes = new Map<ListingEntry, ShownPlaintext>();
  if (services.config.listSizes === 'stored') return sizes;
  const unknown: SizedEntry[] = [];
  for (const entry of entries.filter(isSized)) {
    const known = cache.get(cacheId(bucket, entry)) ?? bySize(arithmeticSize(services, entry));
    if (known === undefined) unknown.push(entry);
    else sizes.set(entry, known);
  }
  await concurrently(unknown, headsAtOnce, async (entry) => {
    const asked = await askedPlaintext(services, bucket, entry, signal);
    if (asked === undefined) return;
    cache.set(cacheId(bucket, entry), asked);
    sizes.set(entry, asked);
  });
  return sizes;
}

const isSized = (entry: ListingEntry): entry is SizedEntry =>
  entry.size !== undefined && entry.etag !== undefined;

/** A self-copy, or an empty folder written again, may have another checksum under the same ETag. */
const cacheId = (bucket: string, { key, etag, versionId = '', lastModified = '' }: SizedEntry): string =>
  `${bucket}\n${etag}\n${lastModified}\n${versionId}\n${key}`;

/**
 * Only if the format of all objects is known: format 1 adds 28 bytes for each part, format 2 adds 16 for each segment
 * of a single part. The ETag of a copy does not tell its number of parts.
 */
function arithmeticSize({ config }: ObjectServices, { size, etag }: SizedEntry): number | undefined {
  const { listSizes } = config;
  if (listSizes !== 'format-1' && listSizes !== 'format-2') return undefined;
  const parts = partsOfEtag(etag) ?? (size <= leastPart ? 1 : undefined);
  if (listSizes === 'format-2') return parts === 1 ? plaintextOfSegments(size) : undefined;
  const plaintext = parts === undefined ? undefined : size - parts * overheadBytes;
  return plaintext !== undefined && plaintext >= 0 ? plaintext : undefined;
}

/** The number of parts at the end of a multipart upload's ETag. */
function partsOfEtag(etag: string): number | undefined {
  const suffix = /-(\d{1,5})$/.exec(unquote(etag))?.[1];
  return suffix === undefined ? undefined : Number(suffix);
}

/**
 * Undefined if the object was replaced or its metadata cannot be read.
 * @throws S3Error if the store fails, since the stored size would be a wrong answer
 */
async function askedPlaintext(
  services: ObjectServices,
  bucket: string,
  { key, etag, versionId }: SizedEntry,
  signal: AbortSignal,
): Promise<ShownPlaintext | undefined> {
  const head = async (query: readonly (readonly [string, string])[]) => {
    const response = await services.upstream.send({ method: 'HEAD', bucket, key, query, signal });
    if (isFailure(response.status)) throw await refusal(response);
    response.body.resume();
    return response;
  };
  const first = await head(versionId === undefined ? [] : [['versionId', versionId]]);
  // versitygw lists version `null` in buckets without versioning, but rejects requests for it
  const { status, headers } = first.status === 400 && versionId === 'null' ? await head([]) : first;
  const stored = Number(headers['content-length']);
  if (status !== 200 || !Number.isSafeInteger(stored)) return undefined;
  if (unquote(headers.etag ?? '') !== unquote(etag)) return undefined;
  try {
    const envelope = readEnvelope(headers);
    if (envelope === undefined) return { size: stored };
    const size = await plaintextOf(services, { bucket, key }, envelope, { stored, etag });
    return size === undefined ? undefined : { size, ...checksumOf(envelope) };
  } catch (error) {
    if (error instanceof EnvelopeError) return undefined;
    throw error;
  }
}

const bySize = (size: number | undefined): ShownPlaintext | undefined =>
  size === undefined ? undefined : { size };

const checksumOf = ({ checksum }: Envelope): { checksum?: Required<UploadChecksum> } =>
  checksum === undefined ? {} : { checksum: { algorithm: checksum.algorithm, type: checksum.type } };

/** The store failed or throttled, which tells nothing about the object. */
const isFailure = (status: number): boolean => status >= 500 || status === 429;

/** In format 2 the size follows from the sizes of all parts. */
async function plaintextOf(
  services: ObjectServices,
  name: { bucket: string; key: string },
  envelope: Envelope,
  { stored, etag }: { readonly stored: number; readonly etag: string },
): Promise<number | undefined> {
  const { format, keys } = envelope;
  if (format !== 2) {
    const parts = await partCount(services, name, envelope, etag);
    return parts === undefined ? undefined : Math.max(0, stored - parts * overheadBytes);
  }
  if (keys.form === 'single') return plaintextOfSegments(stored);
  const list = keys.form === 'inline' ? keys.list : await services.manifests.find(name, keys.manifest);
  return list && plaintextListSize(list);
}

async function partCount(
  { manifests }: ObjectServices,
  name: { bucket: string; key: string },
  { keys }: Envelope,
  etag: string,
): Promise<number | undefined> {
  if (keys.form === 'single') return 1;
  if (keys.form === 'inline') return keys.list.parts.length;
  return partsOfEtag(etag) ?? (await manifests.find(name, keys.manifest))?.parts.length;
}

/** Known plaintext properties, by bucket, key, version, ETag and time. */
export class PlaintextCache extends BoundedMap<string, ShownPlaintext> {
  /** @param maxBytes approximate memory for all entries */
  constructor(maxBytes = 4 * 1024 * 1024) {
    super(maxBytes, { costOf });
  }
}

/** At most two bytes a character, plus map entry and value. */
const costOf = (id: string): number => id.length * 2 + 144;
