import { sleep } from '../../runtime/lifecycle/wait.ts';
import type { ObjectServices, RequestContext } from '../context.ts';
import { plaintextListSize, type StoredPartList } from '../format/manifest.ts';
import type { PartRecord } from '../format/records.ts';
import { S3Error, s3Error } from '../s3/error.ts';
import { requestHeadersUpstream } from '../s3/headers.ts';
import type { S3Request } from '../s3/request.ts';
import { type CompletedPart, completeMultipartXml } from '../s3/request-documents.ts';
import { xmlResult } from '../upstream/upstream.ts';
import { type Completed, hasParts, type ObjectAtKey, objectAtKey } from './completed-object.ts';
import { noObject, type ReplacedObject } from './replaced-object.ts';
import type { UploadRecord } from './upload-record.ts';

/** With the white space that stores send until they know the outcome. */
const answerLimit = 64 * 1024;

/** What the store is to complete. */
export interface ListToComplete {
  readonly record: UploadRecord;
  readonly records: readonly PartRecord[];
  readonly sealed: StoredPartList;
  readonly replaced: ReplacedObject;
}

/**
 * The store accepts one list of an upload. Whether it is this one its answer does not tell: NoSuchUpload may be the end of
 * an earlier attempt with the same list, and some stores answer 200 to every Complete after the first, whatever it names,
 * and to one of an aborted upload if any object is at the key. So the object tells.
 * @throws S3Error of the store; NoSuchUpload also if it has accepted another list, or the upload was aborted
 */
export async function completeAtStore(
  services: ObjectServices,
  context: RequestContext,
  wanted: ListToComplete,
): Promise<Completed> {
  const answer = await sendComplete(services, context, wanted).catch((error: unknown) => {
    if (isNoSuchUpload(error)) return error;
    throw error;
  });
  const answered = answer instanceof S3Error ? undefined : answer;
  const found = await findObject(services, wanted, answered);
  if (found.completed !== undefined) return found.completed;
  if (answer instanceof S3Error) throw answer;
  if (found.isOfAnotherList) throw noSuchUpload(wanted.record);
  return whatBecameOf(services, wanted, answer);
}

export const isNoSuchUpload = (error: unknown): error is S3Error =>
  error instanceof S3Error && error.code === 'NoSuchUpload';

export const noSuchUpload = ({ uploadId }: UploadRecord): S3Error =>
  s3Error('NoSuchUpload', undefined, { details: { UploadId: uploadId } });

interface Found {
  /** Undefined if the object is not of this list. */
  readonly completed: Completed | undefined;
  readonly isOfAnotherList: boolean;
  readonly identity: string | undefined;
}

/** The version that the store named is looked for if another one has replaced it. */
async function findObject(
  services: ObjectServices,
  { record, sealed }: ListToComplete,
  answered: Completed | undefined,
): Promise<Found> {
  const current = await objectAtKey(services, record);
  const { identity } = current;
  const object = current.object ?? (await namedVersion(services, record, answered))?.object;
  if (object === undefined) return { completed: undefined, isOfAnotherList: false, identity };
  if (object.etag === answered?.etag) return { completed: answered, isOfAnotherList: false, identity };
  const isOfThisList = await hasParts(services, record, object, sealed);
  return { completed: isOfThisList ? object : undefined, isOfAnotherList: !isOfThisList, identity };
}

const namedVersion = async (
  services: ObjectServices,
  record: UploadRecord,
  answered: Completed | undefined,
): Promise<ObjectAtKey | undefined> =>
  answered?.versionId === undefined ? undefined : objectAtKey(services, record, answered.versionId);

/** About 10 s: another Complete of the same list may be under way, which the store answers for this one, too. */
const pausesMs = [0, 100, 200, 400, 800, 1500, 2000, 2500, 2500];

/**
 * The store said that the upload is completed, and the object is not there. It may have been replaced or deleted since,
 * or is yet to come, or the upload was aborted: an Abort removes the records, so they are looked at before the object.
 */
async function whatBecameOf(
  services: ObjectServices,
  wanted: ListToComplete,
  answered: Completed,
): Promise<Completed> {
  const { record, replaced } = wanted;
  let identity: string | undefined;
  for (const pauseMs of pausesMs) {
    await sleep(pauseMs);
    const isOpen = await services.uploads.isOpen(record);
    const found = await findObject(services, wanted, answered);
    if (found.completed !== undefined) return found.completed;
    if (!isOpen || found.isOfAnotherList) throw noSuchUpload(record);
    identity = found.identity;
    if (replaced.identity !== undefined && identity !== replaced.identity) return answered;
  }
  if (identity === noObject) return answered;
  throw s3Error(
    'InternalError',
    'The object store says that the upload is completed, but its object is not there. Repeat the request; if that does not help, begin another upload.',
  );
}

async function sendComplete(
  { upstream }: ObjectServices,
  { request }: RequestContext,
  { record: { bucket, key, uploadId }, records, sealed }: ListToComplete,
): Promise<Completed> {
  const response = await upstream.send(
    {
      method: 'POST',
      bucket,
      key,
      query: [['uploadId', uploadId]],
      headers: completeHeaders(request, sealed),
    },
    completeMultipartXml(records.map(storedPart)),
  );
  const versionId = header(response.headers['x-amz-version-id']);
  const { top } = await xmlResult(response, completeResult, answerLimit);
  const etag = top.get('ETag');
  if (etag === undefined) throw s3Error('InternalError', 'The object store named no ETag of the object.');
  return { bucket, key, etag, versionId };
}

const completeResult = { root: 'CompleteMultipartUploadResult', fields: ['ETag'] };

const storedPart = ({ part, etag, checksum }: PartRecord): CompletedPart => ({
  partNumber: part.n,
  etag,
  checksum,
});

/** The size that callers may announce is that of the plaintext. */
function completeHeaders({ headers }: S3Request, sealed: StoredPartList): Record<string, string> {
  const announced = headers['x-amz-mp-object-size'];
  const size = plaintextListSize(sealed);
  if (announced !== undefined && announced !== String(size))
    throw s3Error('InvalidRequest', wrongSize(String(announced), size));
  return { ...requestHeadersUpstream(headers), 'content-type': 'application/xml' };
}

function wrongSize(announced: string, size: number): string {
  if (/^-\d+$/.test(announced))
    return `Value for x-amz-mp-object-size header is less than zero: '${announced}'`;
  if (!/^\d+$/.test(announced)) return `Value for x-amz-mp-object-size header is invalid: '${announced}'`;
  return `The provided 'x-amz-mp-object-size' header value ${announced} does not match what was computed: ${size}`;
}

const header = (value: string | string[] | undefined) => (typeof value === 'string' ? value : undefined);
