import type { IncomingHttpHeaders } from 'node:http';
import type { ObjectServices } from '../../../objects/context.ts';
import { copiedTags } from '../../../objects/copy/copy-object.ts';
import { isReservedMetadata, metadataPrefix } from '../../../objects/format/metadata.ts';
import type { StoredObject } from '../../../objects/read/stored-object.ts';
import { S3Error, s3Error } from '../../../objects/s3/error.ts';
import { storedHeaders } from '../../../objects/s3/headers.ts';
import type { Fields, ScannedDocument } from '../../../objects/s3/xml-document.ts';
import { refusal, xmlResult } from '../../../objects/upstream/upstream.ts';
import { acl, hasPlainAcl } from '../engine/object-acl.ts';

const answerLimit = 256 * 1024;

/**
 * Request headers that give the new object everything the stored one has besides its body: metadata, content headers,
 * redirect, storage class, server-side encryption, tags, grants, retention and legal hold. Anything that would be lost
 * silently is an error.
 * @throws S3Error InvalidObjectState for an archived object, MetadataNotKept for metadata that cannot be written again,
 *   and the store's error if it does not answer
 */
export async function keptHeaders(
  services: ObjectServices,
  object: StoredObject,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  refuseLoss(object);
  const { upstream, buckets } = services;
  const locked = await buckets.locked(object.name.bucket);
  const [tags, grants, lock] = await Promise.all([
    copiedTags(services, { ...object, headers: tagsUnknown }),
    grantHeaders(upstream, object, signal),
    locked ? lockHeaders(upstream, object, signal) : {},
  ]);
  return {
    ...storedHeaders(object.headers),
    ...placementHeaders(object.headers),
    ...tags,
    ...grants,
    ...lock,
  };
}

/** Always asks for the tags: not all stores count them in a HEAD, and none does for callers that may not read tags. */
const tagsUnknown = { 'x-amz-tagging-count': 'unknown' };

const archived = new Set(['GLACIER', 'DEEP_ARCHIVE']);

function refuseLoss({ headers, envelope }: StoredObject): void {
  if (archived.has(String(headers['x-amz-storage-class'])) || headers['x-amz-archive-status'] !== undefined)
    throw new S3Error('InvalidObjectState', 403, 'The object is archived: restore it, and run this again.');
  const missing = headers['x-amz-missing-meta'];
  if (missing !== undefined && missing !== '0') throw notKept('metadata that HEAD does not show');
  if (Object.values(headers).some(Array.isArray)) throw notKept('metadata that appear twice');
  const reserved = Object.keys(headers).find(isReservedMetadata);
  if (envelope === undefined && reserved !== undefined)
    throw notKept(`metadata whose names begin with ${metadataPrefix}`);
}

const notKept = (what: string): S3Error =>
  new S3Error('MetadataNotKept', 400, `The object has ${what}, which would get lost.`);

const placement =
  /^x-amz-(storage-class|server-side-encryption(-aws-kms-key-id|-bucket-key-enabled|-context)?)$/;

function placementHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => placement.test(name));
  return Object.fromEntries(kept) as Record<string, string>;
}

type Asking = ObjectServices['upstream'];

const grantHeader: Readonly<Record<string, string>> = {
  FULL_CONTROL: 'x-amz-grant-full-control',
  READ: 'x-amz-grant-read',
  READ_ACP: 'x-amz-grant-read-acp',
  WRITE_ACP: 'x-amz-grant-write-acp',
};

async function grantHeaders(
  upstream: Asking,
  { name }: StoredObject,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  if (await hasPlainAcl(upstream, name, signal)) return {};
  const response = await upstream.send({ method: 'GET', ...name, query: [['acl', '']], signal });
  return grantsOf(await xmlResult(response, acl, answerLimit));
}

/** @throws S3Error MetadataNotKept for a grant that no header can express */
export function grantsOf({ entries }: ScannedDocument): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const grant of entries) {
    const header = grantHeader[grant.get('Permission') ?? ''];
    const to = (['ID', 'URI', 'EmailAddress'] as const).find(
      (kind) => grant.get(`Grantee/${kind}`) !== undefined,
    );
    const value = to && grant.get(`Grantee/${to}`);
    if (header === undefined || to === undefined || !value || /["\\\r\n]/.test(value))
      throw notKept('a grant in its ACL that cannot be written again');
    const one = `${to === 'EmailAddress' ? 'emailAddress' : to.toLowerCase()}="${value}"`;
    headers[header] = headers[header] === undefined ? one : `${headers[header]}, ${one}`;
  }
  return headers;
}

/** Errors for objects without retention or legal hold, and for buckets without object lock. */
const withoutLock = new Set([
  ...['NoSuchObjectLockConfiguration', 'ObjectLockConfigurationNotFoundError', 'InvalidRequest'],
  ...['NotImplemented', 'MethodNotAllowed'],
]);

async function lockHeaders(
  upstream: Asking,
  object: StoredObject,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const retention = await lockDocument(upstream, object, 'retention', signal);
  const hold = await lockDocument(upstream, object, 'legal-hold', signal);
  const mode = retention?.get('Mode');
  const until = retention?.get('RetainUntilDate');
  // stores refuse a past date, and such a date retains nothing anyway
  const retained = mode && until && Date.parse(until) > Date.now();
  return {
    ...(retained && { 'x-amz-object-lock-mode': mode, 'x-amz-object-lock-retain-until-date': until }),
    ...(hold?.get('Status') === 'ON' && { 'x-amz-object-lock-legal-hold': 'ON' }),
  };
}

/** versitygw names the root element after the subresource. */
const lock = { root: undefined, fields: ['Mode', 'RetainUntilDate', 'Status'] };

async function lockDocument(
  upstream: Asking,
  { name }: StoredObject,
  subresource: string,
  signal: AbortSignal,
): Promise<Fields | undefined> {
  const response = await upstream.send({ method: 'GET', ...name, query: [[subresource, '']], signal });
  if (response.status === 200) return (await xmlResult(response, lock, answerLimit)).top;
  const refused = await refusal(response);
  if (withoutLock.has(refused.code)) return undefined;
  throw refused.status >= 500
    ? refused
    : s3Error('AccessDenied', `The store does not return the ${subresource} of the object.`);
}
