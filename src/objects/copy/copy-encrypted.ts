import type { ObjectServices } from '../context.ts';
import {
  checksumHeader,
  type Envelope,
  envelopeHeaders,
  type ObjectName,
  type WrappedKeys,
} from '../format/metadata.ts';
import type { BoundKey } from '../keys/data-keys.ts';
import { ObjectChanged, type StoredObject } from '../read/stored-object.ts';
import type { Checksums, WholeChecksum } from '../s3/checksum.ts';
import { S3Error, s3Error } from '../s3/error.ts';
import {
  descriptionHeaders,
  maxUserMetadata,
  outward,
  responseHeadersDownstream,
  storedHeaders,
  strictMetadataSize,
  takeNamedMd5,
} from '../s3/headers.ts';
import { checksumElement, checksumFields } from '../s3/request-documents.ts';
import { element } from '../s3/xml-text.ts';
import type { SlowResponse } from '../slow-answer.ts';
import { type UpstreamResponse, xmlResult } from '../upstream/upstream.ts';
import { withEnvelope } from '../write/put-object.ts';
import { type CopyRequest, copyHeaders, directive, type SourceObject } from './copy-request.ts';
import { type AnewDigests, rewrapParts, rewrapSingle, rewrapUpload } from './rewrap-for-copy.ts';
import { checksumAsked } from './sum-plaintext.ts';

const answerLimit = 64 * 1024;
const copyResult = { root: 'CopyObjectResult', fields: ['ETag', 'LastModified'] };

/** The store copies the ciphertext; only the keys are wrapped again, for the new name. */
export async function copyEncrypted(
  services: ObjectServices,
  copy: CopyRequest,
  source: SourceObject,
  to: ObjectName,
  signal: AbortSignal,
): Promise<Copied> {
  const { headers: base, named } = takeNamedMd5(destinationHeaders(copy, source.object), {});
  const checksum = await checksumAsked(services, copy, source, signal);
  const anew = { checksum, md5: named?.md5, keepsMd5: directive(copy.headers, 'metadata') === 'COPY' };
  const { envelope, told } = await newEnvelope(services, base, source, anew, to, signal);
  const saved = envelope.keys.form === 'pointer' ? envelope.keys.manifest : undefined;
  try {
    const headers = withEnvelope(base, envelope);
    const checksum = keepsChecksum(headers, envelope) ? told : undefined;
    return { ...(await copyInStore(services, copy, source, to, headers, signal)), checksum };
  } catch (error) {
    if (saved !== undefined && isRefusal(error)) await forget(services, to, saved);
    throw error;
  }
}

/** The checksum of a single body lives in the metadata, where `withEnvelope` drops it when there is no room. */
const keepsChecksum = (headers: Readonly<Record<string, string>>, { keys }: Envelope): boolean =>
  keys.form !== 'single' || headers[checksumHeader] !== undefined;

async function newEnvelope(
  services: ObjectServices,
  base: Readonly<Record<string, string>>,
  { object, layout }: SourceObject,
  anew: AnewDigests,
  to: ObjectName,
  signal: AbortSignal,
): Promise<{ readonly envelope: Envelope; readonly told: WholeChecksum | undefined }> {
  const { keys } = services;
  const { name, envelope } = object;
  if (envelope === undefined) throw new TypeError('the source is not encrypted');
  if (envelope.keys.form === 'single') {
    const from = { name, envelope, dek: envelope.keys.dek, size: layout.size };
    const { wrapped, kept, told } = await rewrapSingle(keys, from, anew, to, signal);
    const { ciphertext: dek, keyVersion } = wrapped;
    const { format, derivation } = envelope;
    const body = { ...(format && { format }), ...(derivation && { derivation }), ...recoveryOf(wrapped) };
    return {
      envelope: { ...keys.scheme, ...body, keyVersion, keys: { form: 'single', dek }, ...kept },
      told,
    };
  }
  if (layout.list === undefined) throw new TypeError('the source has no part list');
  const told = anew.checksum ?? layout.list.checksum;
  const digests = { ...anew, checksum: told };
  const from = { name, envelope };
  const { list, keyVersion, md5, recovery } =
    layout.list.format === 2
      ? await rewrapUpload(keys, { ...from, list: layout.list }, digests, to, signal)
      : await rewrapParts(keys, { ...from, list: layout.list }, digests, to, signal);
  const kept = {
    ...(told && { checksum: { algorithm: told.algorithm, type: told.type } }),
    ...(md5 !== undefined && { md5 }),
    ...(recovery !== undefined && { recovery }),
  };
  const envelopeOf = (wrapped: WrappedKeys): Envelope => ({
    ...keys.scheme,
    ...(list.format && { format: list.format }),
    keyVersion,
    keys: wrapped,
    ...kept,
  });
  const inline = envelopeOf({ form: 'inline', list });
  if (fitsInline(services, { ...base, ...envelopeHeaders(inline) }, layout.size))
    return { envelope: inline, told };
  await services.manifests.save(to, list);
  return { envelope: envelopeOf({ form: 'pointer', manifest: list.manifest, seal: list.seal }), told };
}

const recoveryOf = ({ recovery }: BoundKey): { readonly recovery?: string } =>
  recovery === undefined ? {} : { recovery };

function fitsInline({ config }: ObjectServices, headers: Record<string, string>, size: number): boolean {
  return (
    config.inlineLimit > 0 && size <= config.inlineLimit && strictMetadataSize(headers) <= maxUserMetadata
  );
}

async function copyInStore(
  { upstream }: ObjectServices,
  copy: CopyRequest,
  { object }: SourceObject,
  to: ObjectName,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Copied> {
  const response = await upstream.send({
    method: 'PUT',
    ...to,
    headers: { ...headers, ...copyHeaders(copy, object.etag), 'x-amz-metadata-directive': 'REPLACE' },
    signal,
  });
  try {
    const { top } = await xmlResult(response, copyResult, answerLimit);
    const etag = top.get('ETag');
    if (etag === undefined) throw s3Error('InternalError', 'The object store named no ETag.');
    return { etag, lastModified: top.get('LastModified'), headers: response.headers };
  } catch (error) {
    throw changedMeanwhile(error, headers) ? new ObjectChanged() : error;
  }
}

/** A 412 concerns the source, unless the caller set a condition on the destination. */
const changedMeanwhile = (error: unknown, headers: Record<string, string>) =>
  error instanceof S3Error &&
  error.status === 412 &&
  headers['if-match'] === undefined &&
  headers['if-none-match'] === undefined;

/** After any other failure the copy may exist, and then needs its manifest. */
const isRefusal = (error: unknown) =>
  error instanceof ObjectChanged || (error instanceof S3Error && error.status < 500);

async function forget({ manifests, log }: ObjectServices, to: ObjectName, id: string): Promise<void> {
  await manifests.remove(to, id).catch((error: Error) => {
    log.warn('proxy.manifest.left', { error: error.message });
  });
}

const metadataDirective = 'x-amz-metadata-directive';
const redirect = 'x-amz-website-redirect-location';

/**
 * The destination's headers without an envelope: the source's metadata, or the caller's under `REPLACE`. As in S3, a
 * redirect is never copied.
 */
export function destinationHeaders(copy: CopyRequest, source: StoredObject): Record<string, string> {
  const { [metadataDirective]: asked, ...headers } = copy.headers;
  if (directive(copy.headers, 'metadata') === 'REPLACE') return headers;
  const { [redirect]: own, ...stored } = storedHeaders(source.headers);
  return { ...Object.fromEntries(Object.entries(headers).filter(([name]) => !describes(name))), ...stored };
}

const describes = (name: string) => descriptionHeaders.includes(name) || name.startsWith('x-amz-meta-');

/** Whether a copy of an object onto itself changes anything; S3 refuses a copy that does not. */
export function changesSomething({ headers }: CopyRequest): boolean {
  if (directive(headers, 'metadata') === 'REPLACE') return true;
  return Object.keys(headers).some(
    (name) => name === redirect || name === 'x-amz-storage-class' || name.startsWith('x-amz-server-side-'),
  );
}

/** The result of a copy. */
export interface Copied {
  /** The store's ETag, quoted. */
  readonly etag: string;
  /** ISO 8601; undefined when the store did not report it. */
  readonly lastModified: string | undefined;
  /** The store's answer to the write. */
  readonly headers: UpstreamResponse['headers'];
  /** The checksum that is kept with the object. */
  readonly checksum?: WholeChecksum | undefined;
  /** Checksums of a part, if its upload has any. */
  readonly checksums?: Checksums;
}

const sourceVersion = 'x-amz-copy-source-version-id';

/** `root`: `CopyObjectResult` or `CopyPartResult`. */
export function copiedAnswer(
  root: string,
  { etag, lastModified, headers, checksum, checksums = new Map() }: Copied,
  versionId: string | undefined,
): SlowResponse {
  const modified = lastModified ?? new Date().toISOString();
  const fields = [
    element('LastModified', modified),
    element('ETag', outward(etag)),
    ...(checksum === undefined ? [] : checksumFields(checksum)),
    ...[...checksums].map(([algorithm, digest]) =>
      element(checksumElement(algorithm), digest.toString('base64')),
    ),
  ];
  return {
    headers: { ...ofWrite(headers), ...(versionId === undefined ? {} : { [sourceVersion]: versionId }) },
    xml: `<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${fields.join('')}</${root}>`,
  };
}

const ofBody = new Set(['content-type', 'etag', 'x-amz-object-size']);

const ofWrite = (headers: UpstreamResponse['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(responseHeadersDownstream(headers)).filter(([name]) => !ofBody.has(name)),
  );
