import type { ObjectServices, OperationHandler, RequestContext } from '../../../objects/context.ts';
import { bodyFormat } from '../../../objects/format/formats.ts';
import { partChecksum } from '../../../objects/format/sealed-checksums.ts';
import type { VerifiedList } from '../../../objects/multipart/manifest-store.ts';
import { readAgain } from '../../../objects/read/deliver.ts';
import { ObjectChanged, type ObjectLayout, type StoredObject } from '../../../objects/read/stored-object.ts';
import type { WholeChecksum } from '../../../objects/s3/checksum.ts';
import { S3Error, s3Error } from '../../../objects/s3/error.ts';
import {
  outward,
  requestHeadersUpstream,
  responseHeadersDownstream,
  unquote,
} from '../../../objects/s3/headers.ts';
import { rewriteListing, scanAttributes } from '../../../objects/s3/listing.ts';
import { checksumElement, checksumFields } from '../../../objects/s3/request-documents.ts';
import { element } from '../../../objects/s3/xml-text.ts';
import { beginAnswer, readBody, refusal } from '../../../objects/upstream/upstream.ts';
import type { BlockBody } from '../../../runtime/bounds/block-body.ts';
import { release } from '../../../runtime/memory.ts';

const answerLimit = 4 * 1024 * 1024;
const attributesHeader = 'x-amz-object-attributes';

/** GetObjectAttributes for the plaintext; checksums of the ciphertext are left out. */
export const getObjectAttributes: OperationHandler = async (services, context) => {
  await context.payload.read(0);
  await readAgain(context.answer, () => answerAttributes(services, context));
};

async function answerAttributes(services: ObjectServices, context: RequestContext): Promise<void> {
  const { request, signal } = context;
  const name = { bucket: request.bucket, key: request.key };
  const wanted = {
    versionId: request.query.get('versionId'),
    headers: requestHeadersUpstream(request.headers),
  };
  const object = await services.reader.stat(name, { ...wanted, signal }).catch(async (error: unknown) => {
    throw error instanceof S3Error ? await ownRefusal(services, context, error) : error;
  });
  const xml = await fetchAttributes(services, context, object.envelope !== undefined);
  try {
    await answerFrom(xml, object, services, context);
  } finally {
    release(xml);
  }
}

async function answerFrom(
  xml: Buffer,
  object: StoredObject,
  services: ObjectServices,
  context: RequestContext,
): Promise<void> {
  const { request, signal, answer } = context;
  const etag = scanAttributes(xml).entries[0]?.etag;
  if (etag !== undefined && unquote(etag) !== unquote(object.etag)) throw new ObjectChanged();
  const layout = object.envelope !== undefined ? await services.reader.layout(object, context) : undefined;
  if (layout === undefined) {
    answer.head(200, { 'content-type': 'application/xml' });
    await answer.end(withOutwardEtag(xml));
    return;
  }
  const asked = namesOf(String(request.headers[attributesHeader])).includes('Checksum');
  const { checksum } = asked ? await services.reader.digests(object, layout, signal) : {};
  answer.head(200, { 'content-type': 'application/xml' });
  await answer.end(ofPlaintext(xml, context, layout, checksum));
}

/** The store's own refusal of this request, which may differ from its answer to the HEAD before. */
async function ownRefusal(
  services: ObjectServices,
  context: RequestContext,
  ofHead: S3Error,
): Promise<S3Error> {
  return fetchAttributes(services, context, true).then(
    () => ofHead,
    (refused: unknown) => (refused instanceof S3Error ? refused : ofHead),
  );
}

async function fetchAttributes(
  { upstream }: ObjectServices,
  { request, answer, memory, signal }: RequestContext,
  encrypted: boolean,
): Promise<Buffer> {
  const { bucket, key, query, headers } = request;
  const forwarded = requestHeadersUpstream(headers);
  const held = memory.of('answers');
  await beginAnswer(held);
  if (encrypted) forwarded[attributesHeader] = withoutChecksum(forwarded[attributesHeader]);
  const response = await upstream.send({
    method: 'GET',
    bucket,
    key,
    query: query.entries,
    headers: forwarded,
    signal,
  });
  if (response.status !== 200) throw await refusal(response);
  answer.head(200, responseHeadersDownstream(response.headers));
  return readBody(response, answerLimit, held);
}

const namesOf = (header = ''): string[] => header.split(',').map((name) => name.trim());

/** The store requires at least one attribute name. */
function withoutChecksum(header: string | undefined): string {
  const names = namesOf(header).filter((name) => name !== 'Checksum');
  return names.length === 0 ? 'StorageClass' : names.join(',');
}

function withOutwardEtag(xml: Buffer): BlockBody {
  const listing = { ...scanAttributes(xml), checksums: [] };
  return rewriteListing(listing, ({ etag }) => (etag === undefined ? undefined : { etag: outward(etag) }));
}

function ofPlaintext(
  xml: Buffer,
  { request }: RequestContext,
  { size, list }: ObjectLayout,
  checksum: WholeChecksum | undefined,
): string {
  const { plaintextSize } = bodyFormat(list?.format);
  const { blocks } = rewriteListing(scanAttributes(xml), (entry) => {
    if (entry.element === 'Part')
      return {
        size: plaintextSize(entry.size ?? 0) ?? 0,
        added: partChecksumElement(list, entry.partNumber),
      };
    return { size, ...(entry.etag === undefined ? {} : { etag: outward(entry.etag) }) };
  });
  const sum = checksum === undefined ? '' : `<Checksum>${checksumFields(checksum).join('')}</Checksum>`;
  const rewritten = beforeEnd(Buffer.concat([...blocks]).toString(), sum);
  const wanted = namesOf(String(request.headers[attributesHeader] ?? '')).includes('ObjectParts');
  if (!wanted || list === undefined || partsCount(rewritten) === list.parts.length) return rewritten;
  return withParts(rewritten.replace(/<ObjectParts>.*<\/ObjectParts>/s, ''), request.headers, list);
}

const partsCount = (xml: string): number => Number(/<PartsCount>\s*(\d+)/.exec(xml)?.[1]);

/** For copied objects the store knows no parts, or only one. */
function withParts(xml: string, headers: RequestContext['request']['headers'], list: VerifiedList): string {
  const page = objectPartsXml(list, {
    marker: wholeNumber(headers, 'x-amz-part-number-marker', 0),
    limit: wholeNumber(headers, 'x-amz-max-parts', 1000) || 1000,
  });
  return beforeEnd(xml, page);
}

const beforeEnd = (xml: string, added: string): string =>
  xml.replace(/<\/[Gg]etObjectAttributes\w+>\s*$/, (end) => added + end);

export interface PartsPage {
  /** Part number after which the page starts. */
  readonly marker: number;
  /** Maximum number of parts on the page. */
  readonly limit: number;
}

/** `<ObjectParts>` of an encrypted object as GetObjectAttributes writes it, with plaintext sizes. */
export function objectPartsXml(list: VerifiedList, { marker, limit }: PartsPage): string {
  const { parts } = list;
  const behind = parts.filter(({ n }) => n > marker);
  const page = behind.slice(0, Math.min(limit, 1000));
  const truncated = behind.length > page.length;
  const fields = [
    element('IsTruncated', truncated),
    element('MaxParts', Math.min(limit, 1000)),
    // paginators continue as long as there is one
    ...(truncated ? [element('NextPartNumberMarker', page.at(-1)?.n ?? marker)] : []),
    element('PartNumberMarker', marker),
    element('PartsCount', parts.length),
    ...page.map(
      ({ n, size }) =>
        `<Part>${element('PartNumber', n)}${element('Size', size)}${partChecksumElement(list, n)}</Part>`,
    ),
  ];
  return `<ObjectParts>${fields.join('')}</ObjectParts>`;
}

/** Empty if no part checksum is kept. */
function partChecksumElement(list: VerifiedList | undefined, number: number | undefined): string {
  if (list?.ofParts === undefined) return '';
  const index = list.parts.findIndex(({ n }) => n === number);
  if (index < 0) return '';
  const digest = partChecksum(list.ofParts, index).toString('base64');
  return element(checksumElement(list.ofParts.algorithm), digest);
}

/** @throws S3Error InvalidArgument */
function wholeNumber(headers: RequestContext['request']['headers'], name: string, otherwise: number): number {
  const text = headers[name];
  if (text === undefined || text === '') return otherwise;
  if (/^\d{1,9}$/.test(String(text))) return Number(text);
  throw s3Error('InvalidArgument', `Provided ${name} not an integer or within integer range`, {
    details: { ArgumentName: name, ArgumentValue: String(text).slice(0, 20) },
  });
}
