import type { ObjectServices, OperationHandler, RequestContext } from '../../../objects/context.ts';
import type { ObjectName } from '../../../objects/format/metadata.ts';
import type { ListUser } from '../../../objects/multipart/lists-in-use.ts';
import { manifestOf, removeManifest, removeManifests } from '../../../objects/multipart/manifest-store.ts';
import { S3Error, s3Error } from '../../../objects/s3/error.ts';
import { inward, outward, responseHeadersDownstream } from '../../../objects/s3/headers.ts';
import {
  insertion,
  removal,
  replaceSpans,
  type Span,
  type SpanEdit,
} from '../../../objects/s3/replace-spans.ts';
import { checkKey, type S3Request } from '../../../objects/s3/request.ts';
import {
  deleteObjectsXml,
  maxDeleteBytes,
  maxDeleteResultBytes,
  type ObjectToDelete,
  parseDeleteObjects,
} from '../../../objects/s3/request-documents.ts';
import type { DocumentShape, ScannedDocument } from '../../../objects/s3/xml-document.ts';
import { element } from '../../../objects/s3/xml-text.ts';
import { beginAnswer, readBody, refusal, scanAnswer } from '../../../objects/upstream/upstream.ts';
import type { BlockBody } from '../../../runtime/bounds/block-body.ts';
import { concurrently } from '../../../runtime/lifecycle/wait.ts';
import { lastUse, readOrRelease, release } from '../../../runtime/memory.ts';
import { isReservedKey, reservedKey } from '../server/admit-request.ts';
import { forward } from './pass-through.ts';

const headsAtOnce = 16;

/** DeleteObjects. Reserved and invalid keys get individual errors; the store deletes the rest. */
export const deleteObjects: OperationHandler = async (services, context) => {
  const { objects, quiet } = lastUse(await context.payload.read(maxDeleteBytes), parseDeleteObjects);
  await beginAnswer(context.memory.of('answers'));
  const refusals = objects.flatMap((object) => refusalFor(object, services.config.reservedPrefix));
  const refused = new Set(refusals.map(({ object }) => object));
  const own = objects.filter((object) => !refused.has(object)).map(inwardObject);
  const judged = await concurrently(own, headsAtOnce, (object) => withSizeJudged(services, context, object));
  const wanted = judged.flatMap(({ object, error }) => (error === undefined ? [object] : []));
  const failed = judged.flatMap(({ object, error }) => (error === undefined ? [] : [{ object, error }]));
  const { xml, hidden } =
    wanted.length === 0
      ? { xml: emptyResult, hidden: [] }
      : await deleteAll(services, context, wanted, quiet);
  context.answer.head(200, { 'content-type': 'application/xml' });
  try {
    const body = withRefusals(xml, [...refusals, ...failed], hidden);
    await context.memory.atCallersPace('answers', () => context.answer.end(body));
  } finally {
    if (xml !== emptyResult) release(xml);
  }
};

/** An answer of the store. */
interface StoredResult {
  readonly xml: Buffer;
  /** Entries that the caller does not want to see. */
  readonly hidden: readonly Span[];
}

/** Replaces a condition on the size by the ETag of the object that has it. */
async function withSizeJudged(
  services: ObjectServices,
  context: RequestContext,
  object: ObjectToDelete,
): Promise<{ object: ObjectToDelete; error?: S3Error }> {
  const { size, ...rest } = object;
  if (size === undefined) return { object };
  try {
    const name = { bucket: context.request.bucket, key: object.key };
    const sized = { name, versionId: object.versionId, wanted: String(size) };
    const etag = await etagOfSize(services, sized, context);
    return { object: { ...rest, etag: object.etag ?? etag } };
  } catch (error) {
    if (error instanceof S3Error && error.status < 500) return { object, error };
    throw error;
  }
}

function refusalFor(object: ObjectToDelete, reservedPrefix: string): DeletionError[] {
  if (isReservedKey(object.key, reservedPrefix)) return [{ object, error: reservedKey(reservedPrefix) }];
  try {
    checkKey(object.key);
    return [];
  } catch (error) {
    if (error instanceof S3Error) return [{ object, error }];
    throw error;
  }
}

const inwardObject = (object: ObjectToDelete): ObjectToDelete =>
  object.etag === undefined ? object : { ...object, etag: inward(object.etag) };

async function deleteAll(
  services: ObjectServices,
  context: RequestContext,
  objects: readonly ObjectToDelete[],
  quiet: boolean,
): Promise<StoredResult> {
  const { bucket } = context.request;
  const plain = objects.filter(({ versionId }) => versionId === undefined);
  const manifests = await concurrently(plain, headsAtOnce, async ({ key }) => ({
    key,
    id: await manifestOf(services, { bucket, key }, context.signal),
  }));
  const document = deleteObjectsXml({ quiet: false, objects });
  const response = await forward(services, context, Buffer.from(document));
  if (response.status !== 200) throw await refusal(response);
  context.answer.head(200, responseHeadersDownstream(response.headers));
  const xml = await readBody(response, maxDeleteResultBytes, context.memory.of('answers'));
  const result = readOrRelease(xml, (bytes) => scanAnswer(bytes, deleteResult));
  const deleted = deletedKeys(
    objects.map(({ key }) => key),
    result,
  );
  await removeManifests(
    services,
    bucket,
    manifests.filter(({ key }) => deleted.has(key)),
  );
  return { xml, hidden: quiet ? result.entries.filter(({ path }) => path === 'Deleted') : [] };
}

/** A store may say something of each key that it was asked to delete. */
export const deleteResult: DocumentShape = {
  root: 'DeleteResult',
  entries: ['Deleted', 'Error'],
  fields: ['Key', 'VersionId', 'Code'],
};

/** A key that the proxy does not ask the store to delete. */
interface DeletionError {
  readonly object: ObjectToDelete;
  readonly error: S3Error;
}

export const emptyResult = Buffer.from(
  '<?xml version="1.0" encoding="UTF-8"?>\n<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></DeleteResult>',
);

/**
 * The requested keys that the store reports as deleted. Some stores report keys differently that XML cannot represent;
 * their manifests are left to `svc proxy gc`.
 */
export function deletedKeys(asked: readonly string[], { entries }: ScannedDocument): Set<string> {
  const keysOf = (name: string) =>
    new Set(entries.filter(({ path }) => path === name).map((entry) => entry.get('Key') ?? ''));
  const [kept, deleted] = [keysOf('Error'), keysOf('Deleted')];
  return new Set(asked.filter((key) => deleted.has(key) && !kept.has(key)));
}

/** The store's result without what is hidden, and with the refused keys among its errors. */
export function withRefusals(
  xml: Buffer,
  refusals: readonly DeletionError[],
  hidden: readonly Span[] = [],
): BlockBody {
  const errors = refusals.map(errorElement).join('');
  const added = errors === '' ? [] : [atEnd(xml, errors)];
  return replaceSpans(xml, [...hidden.map(removal), ...added]);
}

const endTag = '</DeleteResult>';

function atEnd(xml: Buffer, text: string): SpanEdit {
  const at = xml.lastIndexOf(endTag);
  if (at >= 0) return insertion(at, text);
  const start = xml.lastIndexOf('/>');
  if (start < 0) throw s3Error('InternalError');
  return { start, end: start + 2, text: `>${text}${endTag}` };
}

function errorElement({ object, error }: DeletionError): string {
  const version = object.versionId === undefined ? '' : element('VersionId', object.versionId);
  const fields = [
    element('Key', object.key),
    version,
    element('Code', error.code),
    element('Message', error.message),
  ];
  return `<Error>${fields.join('')}</Error>`;
}

/** DeleteObject; the manifest of a multipart object is deleted afterwards. */
export const deleteObject: OperationHandler = async (services, context) => {
  const { request, payload, signal, answer } = context;
  const body = await payload.read(0);
  const name = { bucket: request.bucket, key: request.key };
  const manifest = request.query.has('versionId') ? undefined : await manifestOf(services, name, signal);
  const conditional = await withSizeCondition(services, context);
  const response = await forward(services, { request: conditional, signal }, body);
  if (response.status >= 300) throw await refusal(response);
  response.body.resume();
  await removeManifest(services, name, manifest);
  answer.head(204, responseHeadersDownstream(response.headers));
  await answer.end();
};

/**
 * Compares the plaintext size here, because the store knows ciphertext sizes only, and binds the deletion to the object
 * that has it.
 * @throws S3Error PreconditionFailed
 */
async function withSizeCondition(
  services: ObjectServices,
  { request, ...user }: Pick<RequestContext, 'request' | 'signal' | 'atEnd'>,
): Promise<S3Request> {
  const { 'x-amz-if-match-size': wanted, ...headers } = request.headers;
  if (wanted === undefined) return request;
  const { bucket, key, query } = request;
  const sized = { name: { bucket, key }, versionId: query.get('versionId'), wanted: String(wanted) };
  const etag = await etagOfSize(services, sized, user);
  const { 'if-match': match = '*' } = headers;
  return { ...request, headers: { ...headers, 'if-match': match === '*' ? outward(etag) : match } };
}

/** Matches no object, so that an object created meanwhile is not deleted. */
const noEtag = '"-"';

/**
 * The store's ETag of the object if its plaintext has the wanted size. If there is no object or only a delete marker,
 * the store decides.
 * @throws S3Error PreconditionFailed
 */
async function etagOfSize(
  { reader }: ObjectServices,
  { name, versionId, wanted }: { name: ObjectName; versionId: string | undefined; wanted: string },
  user: ListUser,
): Promise<string> {
  const object = await reader
    .stat(name, { versionId, headers: {}, signal: user.signal })
    .catch((error: unknown) => {
      if (error instanceof S3Error && (error.status === 404 || error.status === 405)) return undefined;
      throw error;
    });
  if (object === undefined) return noEtag;
  const { size } = await reader.layout(object, user);
  if (wanted === String(size)) return object.etag;
  throw s3Error('PreconditionFailed', undefined, { details: { Condition: 'If-Match-Size' } });
}
