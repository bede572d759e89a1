import type { IncomingHttpHeaders } from 'node:http';
import type { ObjectServices } from '../context.ts';
import type { ListUser } from '../multipart/lists-in-use.ts';
import type { ObjectLayout, StoredObject } from '../read/stored-object.ts';
import type { ChecksumAlgorithm } from '../s3/checksum.ts';
import { S3Error, s3Error } from '../s3/error.ts';
import { checkUserMetadata, inwardConditions, writeHeadersUpstream } from '../s3/headers.ts';
import { readUploadChecksum } from '../s3/object-checksum.ts';
import {
  type CopySource,
  copySourceHeader,
  invalidSource,
  parseCopySource,
  type S3Request,
} from '../s3/request.ts';

/** The caller's request for CopyObject or UploadPartCopy. */
export interface CopyRequest {
  readonly source: CopySource;
  /** The caller's conditions on the source, under the names that a HEAD uses. */
  readonly conditions: Readonly<Record<string, string>>;
  /** Headers that the store needs on every request that reads the source. */
  readonly sourceAccess: Readonly<Record<string, string>>;
  /** Headers that the store needs on a copy request to read its source. */
  readonly copyAccess: Readonly<Record<string, string>>;
  /** Algorithm that the caller asks for; undefined: keep the source's checksum. */
  readonly checksum: ChecksumAlgorithm | undefined;
  /** Headers of the destination. */
  readonly headers: Readonly<Record<string, string>>;
}

const sourcePrefix = 'x-amz-copy-source-';
const customerKey = `${sourcePrefix}server-side-encryption-customer-`;
const sourceOwner = 'x-amz-source-expected-bucket-owner';
const payer = 'x-amz-request-payer';

/**
 * The caller's metadata are validated even if the source's are kept. @throws S3Error InvalidArgument, MetadataTooLarge
 */
export function readCopyRequest({ headers }: S3Request): CopyRequest {
  const { [sourceOwner]: owner, ...destination } = writeHeadersUpstream(headers);
  checkUserMetadata(destination);
  for (const kind of ['metadata', 'tagging'] as const) directive(destination, kind);
  const payment = destination[payer] === undefined ? {} : { [payer]: destination[payer] };
  const keys = customerKeys(headers);
  return {
    source: parseCopySource(String(headers['x-amz-copy-source'])),
    conditions: sourceConditions(headers),
    sourceAccess: {
      ...payment,
      ...withoutPrefix(keys, sourcePrefix, 'x-amz-'),
      ...(owner === undefined ? {} : { 'x-amz-expected-bucket-owner': owner }),
    },
    copyAccess: { ...keys, ...(owner === undefined ? {} : { [sourceOwner]: owner }) },
    checksum: readUploadChecksum(headers)?.algorithm,
    headers: destination,
  };
}

/** Headers that make the store copy exactly the object with this ETag. */
export const copyHeaders = ({ source, copyAccess }: CopyRequest, etag: string): Record<string, string> => ({
  ...copyAccess,
  'x-amz-copy-source': copySourceHeader(source),
  'x-amz-copy-source-if-match': etag,
});

export type Directive = 'COPY' | 'REPLACE';

/** @throws S3Error InvalidArgument */
export function directive(headers: CopyRequest['headers'], kind: 'metadata' | 'tagging'): Directive {
  const name = `x-amz-${kind}-directive`;
  const value = (headers[name] ?? 'COPY').toUpperCase();
  if (value === 'COPY' || value === 'REPLACE') return value;
  throw s3Error('InvalidArgument', `Unknown ${kind} directive.`, {
    details: { ArgumentName: name, ArgumentValue: headers[name] ?? '' },
  });
}

function sourceConditions(headers: IncomingHttpHeaders): Record<string, string> {
  const conditions = Object.entries(inwardConditions(headers));
  const ofSource = conditions.filter(([name]) => name.startsWith(sourcePrefix));
  return withoutPrefix(Object.fromEntries(ofSource), sourcePrefix, '');
}

function customerKeys(headers: IncomingHttpHeaders): Record<string, string> {
  const keys: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith(customerKey) && typeof value === 'string') keys[name] = value;
  return keys;
}

function withoutPrefix(
  headers: Record<string, string>,
  prefix: string,
  instead: string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [instead + name.slice(prefix.length), value]),
  );
}

/** S3's limit for one copy request. */
export const maxCopyBytes = 5 * 1024 ** 3;

export interface SourceObject {
  readonly object: StoredObject;
  readonly layout: ObjectLayout;
}

/** Requests the source's headers under the caller's conditions. @throws S3Error of the store, PreconditionFailed */
export async function statSource(
  { reader }: Pick<ObjectServices, 'reader'>,
  { source: { bucket, key, versionId }, conditions, sourceAccess }: CopyRequest,
  user: ListUser,
): Promise<SourceObject> {
  const options = { versionId, headers: conditions, access: sourceAccess, signal: user.signal };
  const object = await reader.stat({ bucket, key }, options).catch((error) => {
    throw asSource(error, `${bucket}/${key}`);
  });
  return { object, layout: await reader.layout(object, user) };
}

/** Rephrases the store's error for the source as S3 reports it for a copy. */
function asSource(error: unknown, source: string): unknown {
  if (!(error instanceof S3Error)) return error;
  if (error.code === 'InvalidBucketName') return invalidSource('bucket name', source, error);
  if (error.code !== 'MethodNotAllowed') return error;
  const message = 'The source of a copy request may not specifically refer to a delete marker by version id.';
  return s3Error('InvalidRequest', message, { cause: error });
}

export const sourceTooLarge = () =>
  s3Error(
    'InvalidRequest',
    `The specified copy source is larger than the maximum allowable size for a copy source: ${maxCopyBytes}`,
  );
