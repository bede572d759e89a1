import type { ObjectServices, OperationHandler, RequestContext } from '../context.ts';
import type { EnvelopeFormat } from '../format/body-format.ts';
import { bodyFormat } from '../format/formats.ts';
import { hasNoBody, type ObjectName } from '../format/metadata.ts';
import { manifestToReplace, removeManifest } from '../multipart/manifest-store.ts';
import { encryptPart, type PartTarget, partTarget, recordPart } from '../multipart/upload-part.ts';
import { readAgain } from '../read/deliver.ts';
import { accessHeaders } from '../read/read-request.ts';
import { type ByteRange, type StoredObject, versionQuery } from '../read/stored-object.ts';
import { type Checksums, toldChecksum } from '../s3/checksum.ts';
import { s3Error } from '../s3/error.ts';
import { type NamedMd5, takeNamedMd5 } from '../s3/headers.ts';
import { lengthToCopy, readCopyRange } from '../s3/range.ts';
import { encodeComponent } from '../s3/request.ts';
import type { DocumentShape, Fields } from '../s3/xml-document.ts';
import { respondSlowly, type SlowResponse } from '../slow-answer.ts';
import { xmlResult } from '../upstream/upstream.ts';
import { encryptToStore } from '../write/encrypt-to-store.ts';
import { objectHeaders, verifyStored } from '../write/put-object.ts';
import {
  type Copied,
  changesSomething,
  copiedAnswer,
  copyEncrypted,
  destinationHeaders,
} from './copy-encrypted.ts';
import {
  type CopyRequest,
  directive,
  maxCopyBytes,
  readCopyRequest,
  type SourceObject,
  sourceTooLarge,
  statSource,
} from './copy-request.ts';
import { copySegments } from './copy-segments.ts';
import { plaintextWithChecksum, summed } from './sum-plaintext.ts';

/** CopyObject. The copy is always encrypted under the latest KEK version. */
export const copyObject: OperationHandler = async (services, context) => {
  const { request, payload } = context;
  await payload.read(0);
  const copy = readCopyRequest(request);
  const to = { bucket: request.bucket, key: request.key };
  const copying = readAgain({ started: false }, () => copyOnce(services, copy, to, context));
  await respondSlowly(services, context, copying);
};

async function copyOnce(
  services: ObjectServices,
  copy: CopyRequest,
  to: ObjectName,
  context: RequestContext,
): Promise<SlowResponse> {
  const { signal } = context;
  const source = await statSource(services, copy, context);
  if (source.object.storedSize > maxCopyBytes) throw sourceTooLarge();
  const encrypted = source.object.envelope !== undefined;
  if (encrypted) refuseIdle(copy, source, to);
  const replaced = await manifestToReplace(services, to, signal);
  const anew = !encrypted || withoutBody(source, to);
  const copied = await (anew ? copyPlaintext : copyEncrypted)(services, copy, source, to, signal);
  await removeManifest(services, to, replaced);
  return copiedAnswer('CopyObjectResult', copied, versionOf(source));
}

/**
 * Whether an object has a body depends on its name, and versitygw does not copy an object without a body to another
 * name.
 */
const withoutBody = ({ object, layout }: SourceObject, to: ObjectName): boolean =>
  object.envelope?.emptySeal !== undefined ||
  hasNoBody(to.key, layout.size) ||
  (bodyFormat(object.envelope?.format).derived && object.storedSize === 0);

/** As in S3. An unencrypted object may be copied onto itself, which encrypts it. */
function refuseIdle(copy: CopyRequest, { object }: SourceObject, to: ObjectName): void {
  const onItself = object.name.bucket === to.bucket && object.name.key === to.key;
  if (!onItself || copy.source.versionId !== undefined || changesSomething(copy)) return;
  throw s3Error(
    'InvalidRequest',
    "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
  );
}

function versionOf({ object }: SourceObject): string | undefined {
  const version = object.headers['x-amz-version-id'];
  return typeof version === 'string' ? version : undefined;
}

const taggingDirective = 'x-amz-tagging-directive';
const taggingLimit = 64 * 1024;

/** Reads the source and encrypts it anew, so that no copy through the proxy leaves plaintext. */
async function copyPlaintext(
  services: ObjectServices,
  copy: CopyRequest,
  { object, layout }: SourceObject,
  to: ObjectName,
  signal: AbortSignal,
): Promise<Copied> {
  const { [taggingDirective]: asked, ...described } = destinationHeaders(copy, object);
  const { headers, named = await sourceMd5(services, copy, { object, layout }, signal) } = takeNamedMd5(
    described,
    {},
  );
  const tags = directive(copy.headers, 'tagging') === 'COPY' ? await copiedTags(services, object) : {};
  const read = await plaintextWithChecksum(services, copy, { object, layout }, signal);
  const stored = await encryptToStore(services, {
    name: to,
    purpose: { kind: 'object', format: formatOfCopy(services, object) },
    ...read,
    length: layout.size,
    signal,
    request: (key, added) => ({
      method: 'PUT',
      ...to,
      headers: objectHeaders({ ...headers, ...tags }, { ...key, ...added }, services.keys.scheme, named),
      signal,
    }),
  });
  if (services.config.upstreamChecksum === 'none') await verifyStored(services, to, stored, copy.headers);
  const [sum] = read.checksums();
  const checksum = sum && toldChecksum({ algorithm: sum[0], type: 'FULL_OBJECT' }, sum[1], 1);
  return { etag: `"${stored.etag}"`, lastModified: undefined, headers: stored.headers, checksum };
}

/** The MD5 that is sealed in the source's metadata. */
async function sourceMd5(
  { reader }: ObjectServices,
  copy: CopyRequest,
  { object, layout }: SourceObject,
  signal: AbortSignal,
): Promise<NamedMd5 | undefined> {
  if (object.envelope?.md5 === undefined || directive(copy.headers, 'metadata') === 'REPLACE')
    return undefined;
  const { md5 } = await reader.digests(object, layout, signal);
  return md5 === undefined ? undefined : { md5, from: 'metadata' };
}

/** The source's format; the configured format for an unencrypted source. */
const formatOfCopy = ({ config }: ObjectServices, { envelope }: StoredObject): EnvelopeFormat =>
  envelope === undefined ? config.format : bodyFormat(envelope.format).id;

export async function copiedTags(
  { upstream }: ObjectServices,
  object: StoredObject,
): Promise<Record<string, string>> {
  if (object.headers['x-amz-tagging-count'] === undefined) return {};
  const response = await upstream.send({
    method: 'GET',
    ...object.name,
    query: [['tagging', ''], ...versionQuery(object)],
    headers: object.access,
  });
  const { entries } = await xmlResult(response, tagging, taggingLimit);
  return { 'x-amz-tagging': entries.map(tagPair).join('&') };
}

const tagging: DocumentShape = { root: 'Tagging', entries: ['TagSet/Tag'], fields: ['Key', 'Value'] };

/** As in `x-amz-tagging`. */
const tagPair = (tag: Fields): string =>
  `${encodeComponent(tag.get('Key') ?? '')}=${encodeComponent(tag.get('Value') ?? '')}`;

/**
 * UploadPartCopy: copies whole segments of format 2 in the store; any other range is decrypted, verified and encrypted
 * as a new part.
 */
export const uploadPartCopy: OperationHandler = async (services, context) => {
  const { request, payload } = context;
  await payload.read(0);
  const copy = readCopyRequest(request);
  const range = request.headers['x-amz-copy-source-range'];
  const wanted = range === undefined ? undefined : readCopyRange(String(range));
  const target = await partTarget(services, request);
  const copying = readAgain({ started: false }, () => copyPart(services, copy, wanted, target, context));
  await respondSlowly(services, context, copying);
};

async function copyPart(
  services: ObjectServices,
  copy: CopyRequest,
  range: ByteRange | undefined,
  target: PartTarget,
  context: RequestContext,
): Promise<SlowResponse> {
  const { signal } = context;
  const source = await statSource(services, copy, context);
  const { object, layout } = source;
  const length = lengthToCopy(range, layout.size);
  if (length > bodyFormat(target.record.format).maxPlaintext) throw sourceTooLarge();
  const segments = await copySegments(services, copy, source, range, target, signal);
  if (segments !== undefined) {
    await recordPart(services, target, segments);
    return partCopied(source, segments.etag);
  }
  const plaintext = services.reader.plaintext(object, layout, range, { signal });
  const { algorithm } = target.record.checksum ?? {};
  const read =
    algorithm === undefined ? { source: plaintext, checksums: none } : summed(plaintext, algorithm);
  const part = await encryptPart(services, {
    record: target.record,
    number: target.number,
    ...read,
    length,
    headers: accessHeaders(copy.headers),
    signal,
  });
  await recordPart(services, target, part);
  return partCopied(source, part.etag, read.checksums());
}

const partCopied = (source: SourceObject, etag: string, checksums = none()): SlowResponse =>
  copiedAnswer(
    'CopyPartResult',
    { etag: `"${etag}"`, lastModified: undefined, headers: {}, checksums },
    versionOf(source),
  );

const none = (): Checksums => new Map();
