import type { ObjectName } from '../../../core/envelope/binding.ts';
import { type Envelope, envelopeHeaders, type WrappedKeys } from '../../../core/envelope/metadata.ts';
import { S3Error } from '../../../core/s3/error.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import { maxUserMetadata, userMetadataSize } from '../../../core/s3/metadata.ts';
import { childText } from '../../../core/s3/xml.ts';
import type { ProxyContext } from '../context.ts';
import { ObjectChanged } from '../read/object-changed.ts';
import { xmlResult } from '../upstream/xml-result.ts';
import type { Copied } from './copied.ts';
import { type CopyRequest, copyHeaders } from './copy-request.ts';
import type { SourceObject } from './copy-source-object.ts';
import { destinationHeaders } from './destination-headers.ts';
import { rewrapParts, rewrapSingle } from './rewrap.ts';

const answerLimit = 64 * 1024;

/** The store copies the ciphertext; the keys are wrapped again for the new name. */
export async function copyEncrypted(
  context: ProxyContext,
  copy: CopyRequest,
  source: SourceObject,
  to: ObjectName,
  signal: AbortSignal,
): Promise<Copied> {
  const base = destinationHeaders(copy, source.object);
  const envelope = await newEnvelope(context, base, source, to, signal);
  const saved = envelope.keys.form === 'pointer' ? envelope.keys.manifest : undefined;
  const headers = { ...base, ...envelopeHeaders(envelope) };
  try {
    if (userMetadataSize(headers) > maxUserMetadata) throw s3Error('MetadataTooLarge');
    return await copyInStore(context, copy, source, to, headers, signal);
  } catch (error) {
    if (saved !== undefined && isRefusal(error)) await forget(context, to, saved);
    throw error;
  }
}

async function newEnvelope(
  context: ProxyContext,
  base: Record<string, string>,
  { object, layout }: SourceObject,
  to: ObjectName,
  signal: AbortSignal,
): Promise<Envelope> {
  const { keys } = context;
  const { name, envelope } = object;
  if (envelope === undefined) throw new TypeError('the source is not encrypted');
  if (envelope.keys.form === 'single') {
    const from = { name, envelope, dek: envelope.keys.dek };
    const { ciphertext, keyVersion } = await rewrapSingle(keys, from, to, signal);
    return { ...keys.scheme, keyVersion, keys: { form: 'single', dek: ciphertext } };
  }
  if (layout.list === undefined) throw new TypeError('the source has no part list');
  const { list, keyVersion } = await rewrapParts(keys, { name, envelope, list: layout.list }, to, signal);
  const envelopeOf = (wrapped: WrappedKeys): Envelope => ({ ...keys.scheme, keyVersion, keys: wrapped });
  const inline = envelopeOf({ form: 'inline', list });
  if (fitsInline(context, { ...base, ...envelopeHeaders(inline) }, layout.size)) return inline;
  await context.manifests.save(to, list);
  return envelopeOf({ form: 'pointer', manifest: list.manifest, seal: list.seal });
}

function fitsInline({ config }: ProxyContext, headers: Record<string, string>, size: number): boolean {
  return config.inlineLimit > 0 && size <= config.inlineLimit && userMetadataSize(headers) <= maxUserMetadata;
}

async function copyInStore(
  { upstream }: ProxyContext,
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
    const result = await xmlResult(response, 'CopyObjectResult', answerLimit);
    const etag = childText(result, 'ETag');
    if (etag === undefined) throw s3Error('InternalError', 'The object store named no ETag.');
    return { etag, lastModified: childText(result, 'LastModified'), headers: response.headers };
  } catch (error) {
    throw changedMeanwhile(error, headers) ? new ObjectChanged() : error;
  }
}

/** A 412 is about the source, unless the caller set a condition on the destination. */
const changedMeanwhile = (error: unknown, headers: Record<string, string>) =>
  error instanceof S3Error &&
  error.status === 412 &&
  headers['if-match'] === undefined &&
  headers['if-none-match'] === undefined;

/** After any other failure the copy may exist, and needs its manifest. */
const isRefusal = (error: unknown) =>
  error instanceof ObjectChanged || (error instanceof S3Error && error.status < 500);

async function forget({ manifests, log }: ProxyContext, to: ObjectName, id: string): Promise<void> {
  await manifests.remove(to, id).catch((error: Error) => {
    log.warn('proxy.manifest.left', { error: error.message });
  });
}
