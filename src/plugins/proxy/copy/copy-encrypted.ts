import { randomBytes } from 'node:crypto';
import { type PartEntry, type PartList, sealMac } from '../../../core/envelope/manifest.ts';
import {
  checksumHeader,
  type Envelope,
  envelopeHeaders,
  type ObjectName,
  type WrappedKeys,
} from '../../../core/envelope/metadata.ts';
import { type PartChecksums, sealPartChecksums } from '../../../core/envelope/part-checksums.ts';
import { openWholeChecksum, sealMd5, sealWholeChecksum } from '../../../core/envelope/whole-checksum.ts';
import type { Checksums } from '../../../core/s3/checksum.ts';
import { S3Error, s3Error } from '../../../core/s3/error.ts';
import {
  descriptionHeaders,
  maxUserMetadata,
  outward,
  responseHeadersDownstream,
  storedHeaders,
  strictMetadataSize,
} from '../../../core/s3/headers.ts';
import { takeNamedMd5 } from '../../../core/s3/named-md5.ts';
import type { WholeChecksum } from '../../../core/s3/object-checksum.ts';
import { checksumElement, checksumFields } from '../../../core/s3/request-documents.ts';
import { childText } from '../../../core/s3/xml.ts';
import { element } from '../../../core/s3/xml-text.ts';
import type { WrappedKey } from '../../../runtime/vault/contract.ts';
import type { ProxyServices } from '../context.ts';
import { createKey } from '../data-keys.ts';
import type { VerifiedList } from '../multipart/manifest-store.ts';
import { ObjectChanged, type StoredObject } from '../read/stored-object.ts';
import type { SlowResponse } from '../server/slow-answer.ts';
import { type UpstreamResponse, xmlResult } from '../upstream/upstream.ts';
import { withEnvelope } from '../write/put-object.ts';
import { type CopyRequest, copyHeaders, directive, type SourceObject } from './copy-request.ts';
import { checksumAsked } from './sum-plaintext.ts';

const answerLimit = 64 * 1024;

/** The store copies the ciphertext; the keys are wrapped again for the new name. */
export async function copyEncrypted(
  services: ProxyServices,
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

/** Of an object in one piece it stands in the metadata, which may have no room. */
const keepsChecksum = (headers: Readonly<Record<string, string>>, { keys }: Envelope): boolean =>
  keys.form !== 'single' || headers[checksumHeader] !== undefined;

/** What the copy has beside its key in place of what the source has. */
interface AnewDigests {
  /** As the caller asked for it; undefined: the source's is kept. */
  readonly checksum: WholeChecksum | undefined;
  /** Base64, from the metadata of the copy. */
  readonly md5: string | undefined;
  /** Whether the source's is kept where there is no other, as all of its metadata are. */
  readonly keepsMd5: boolean;
}

async function newEnvelope(
  services: ProxyServices,
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
    return { envelope: { ...keys.scheme, keyVersion, keys: { form: 'single', dek }, ...kept }, told };
  }
  if (layout.list === undefined) throw new TypeError('the source has no part list');
  const told = anew.checksum ?? layout.list.checksum;
  const from = { name, envelope, list: layout.list };
  const { list, keyVersion, md5 } = await rewrapParts(keys, from, { ...anew, checksum: told }, to, signal);
  const kept = {
    ...(told && { checksum: { algorithm: told.algorithm, type: told.type } }),
    ...(md5 !== undefined && { md5 }),
  };
  const envelopeOf = (wrapped: WrappedKeys): Envelope => ({
    ...keys.scheme,
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

function fitsInline({ config }: ProxyServices, headers: Record<string, string>, size: number): boolean {
  return (
    config.inlineLimit > 0 && size <= config.inlineLimit && strictMetadataSize(headers) <= maxUserMetadata
  );
}

async function copyInStore(
  { upstream }: ProxyServices,
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

async function forget({ manifests, log }: ProxyServices, to: ObjectName, id: string): Promise<void> {
  await manifests.remove(to, id).catch((error: Error) => {
    log.warn('proxy.manifest.left', { error: error.message });
  });
}

type Keys = ProxyServices['keys'];

/** Parts whose keys are in the clear at a time. */
const window = 64;

/** An object in one piece under another name: its DEK wrapped for that name under the latest KEK version. */
async function rewrapSingle(
  keys: Keys,
  from: SingleBody,
  anew: AnewDigests,
  to: ObjectName,
  signal: AbortSignal,
): Promise<{ wrapped: WrappedKey; kept: KeptSealed; told: WholeChecksum | undefined }> {
  const purpose = { kind: 'object' } as const;
  const unwrapped = await keys.unwrap(from.name, from.envelope, [{ wrapped: from.dek, purpose }], signal);
  try {
    const dek = unwrapped[0] as Buffer;
    const { kept, told } = checksumUnder(dek, from, anew.checksum);
    const md5 = md5Under(dek, from, anew);
    const [wrapped] = await keys.wrap(to, [{ key: dek, purpose }], signal);
    return { wrapped: wrapped as WrappedKey, kept: { ...kept, ...(md5 !== undefined && { md5 }) }, told };
  } finally {
    for (const key of unwrapped) key.fill(0);
  }
}

interface SingleBody {
  readonly name: ObjectName;
  readonly envelope: Envelope;
  readonly dek: string;
  /** Plaintext bytes. */
  readonly size: number;
}

/** The DEK stays, and so does what is sealed under it. */
function checksumUnder(dek: Buffer, { envelope, size }: SingleBody, anew: WholeChecksum | undefined) {
  const of = String(size);
  if (anew !== undefined) {
    const { algorithm, type } = anew;
    return { kept: { checksum: { algorithm, type, sealed: sealWholeChecksum(dek, of, anew) } }, told: anew };
  }
  const { checksum } = envelope;
  if (checksum?.sealed === undefined) return { kept: {}, told: undefined };
  return { kept: { checksum }, told: openWholeChecksum(dek, of, checksum.sealed, 1) };
}

type KeptSealed = Pick<Envelope, 'checksum' | 'md5'>;

function md5Under(dek: Buffer, { envelope }: SingleBody, { md5, keepsMd5 }: AnewDigests): string | undefined {
  if (md5 !== undefined) return sealMd5(dek, md5);
  return keepsMd5 ? envelope.md5 : undefined;
}

/** The parts of a copied object: each DEK wrapped again, under a seal of its own. */
async function rewrapParts(
  keys: Keys,
  from: { readonly name: ObjectName; readonly envelope: Envelope; readonly list: VerifiedList },
  { checksum, md5, keepsMd5 }: AnewDigests,
  to: ObjectName,
  signal: AbortSignal,
): Promise<SealedParts> {
  const { ofParts } = from.list;
  const manifest = randomBytes(16).toString('base64url');
  const parts: PartEntry[] = [];
  for (let start = 0; start < from.list.parts.length; start += window) {
    const batch = from.list.parts.slice(start, start + window);
    parts.push(...(await rewrapBatch(keys, from, to, batch, manifest, signal)));
  }
  const kept = md5 ?? (keepsMd5 ? from.list.md5 : undefined);
  const sameAlgorithm = ofParts !== undefined && ofParts.algorithm === checksum?.algorithm;
  const digests = { checksum, md5: kept, ofParts: sameAlgorithm ? ofParts : undefined };
  return sealed(keys, to, { manifest, parts, ...digests }, signal);
}

async function rewrapBatch(
  keys: Keys,
  { name, envelope, list }: { name: ObjectName; envelope: Envelope; list: PartList },
  to: ObjectName,
  batch: readonly PartEntry[],
  manifest: string,
  signal: AbortSignal,
): Promise<PartEntry[]> {
  const purposes = (upload: string) => batch.map(({ n }) => ({ kind: 'part', upload, number: n }) as const);
  const before = purposes(list.manifest);
  const items = batch.map(({ dek }, index) => ({
    wrapped: dek,
    purpose: before[index] as (typeof before)[0],
  }));
  const unwrapped = await keys.unwrap(name, envelope, items, signal);
  const wrapped = await wrapAndForget(keys, to, unwrapped, purposes(manifest), signal);
  return batch.map((part, index) => ({ ...part, dek: (wrapped[index] as WrappedKey).ciphertext }));
}

async function wrapAndForget(
  keys: Keys,
  to: ObjectName,
  unwrapped: readonly Buffer[],
  purposes: readonly Parameters<Keys['wrap']>[1][number]['purpose'][],
  signal: AbortSignal,
): Promise<WrappedKey[]> {
  try {
    const items = unwrapped.map((key, index) => ({ key, purpose: purposes[index] as (typeof purposes)[0] }));
    return await keys.wrap(to, items, signal);
  } finally {
    for (const key of unwrapped) key.fill(0);
  }
}

interface Unsealed extends Pick<PartList, 'manifest' | 'parts'> {
  readonly checksum: WholeChecksum | undefined;
  readonly md5: string | undefined;
  readonly ofParts: PartChecksums | undefined;
}

interface SealedParts {
  readonly list: PartList;
  readonly keyVersion: number;
  /** For the metadata. */
  readonly md5: string | undefined;
}

async function sealed(
  keys: Keys,
  to: ObjectName,
  { manifest, parts, checksum, md5, ofParts }: Unsealed,
  signal: AbortSignal,
): Promise<SealedParts> {
  const seal = await createKey(keys, to, { kind: 'seal', upload: manifest }, signal);
  try {
    const mac = sealMac(seal.key, manifest, parts);
    const list = {
      ...{ manifest, parts, seal: seal.ciphertext, mac },
      ...(checksum && { sum: sealWholeChecksum(seal.key, mac, checksum) }),
      ...(ofParts && { sums: sealPartChecksums(seal.key, mac, ofParts) }),
    };
    return { list, keyVersion: seal.keyVersion, md5: md5 && sealMd5(seal.key, md5) };
  } finally {
    seal.key.fill(0);
  }
}

const metadataDirective = 'x-amz-metadata-directive';
const redirect = 'x-amz-website-redirect-location';

/**
 * The destination's headers without an envelope: the source's metadata, or the caller's
 * under `REPLACE`. A redirect is never copied, as S3 has it.
 */
export function destinationHeaders(copy: CopyRequest, source: StoredObject): Record<string, string> {
  const { [metadataDirective]: asked, ...headers } = copy.headers;
  if (directive(copy.headers, 'metadata') === 'REPLACE') return headers;
  const { [redirect]: own, ...stored } = storedHeaders(source.headers);
  return { ...Object.fromEntries(Object.entries(headers).filter(([name]) => !describes(name))), ...stored };
}

const describes = (name: string) => descriptionHeaders.includes(name) || name.startsWith('x-amz-meta-');

/** Whether a copy onto itself changes anything; S3 refuses one that does not. */
export function changesSomething({ headers }: CopyRequest): boolean {
  if (directive(headers, 'metadata') === 'REPLACE') return true;
  return Object.keys(headers).some(
    (name) => name === redirect || name === 'x-amz-storage-class' || name.startsWith('x-amz-server-side-'),
  );
}

/** What came of a copy. */
export interface Copied {
  /** As the store has it, quoted. */
  readonly etag: string;
  /** ISO 8601; undefined when the store did not say. */
  readonly lastModified: string | undefined;
  /** The store's answer to the write. */
  readonly headers: UpstreamResponse['headers'];
  /** The one that is kept with the object. */
  readonly checksum?: WholeChecksum | undefined;
  /** Of a part, where its upload has any. */
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
