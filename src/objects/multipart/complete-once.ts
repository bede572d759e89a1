import { setImmediate } from 'node:timers/promises';
import type { ObjectServices, RequestContext } from '../context.ts';
import type { PartEntry, SegmentedPart } from '../format/body-format.ts';
import { BodyKeys } from '../format/body-keys.ts';
import { EnvelopeError } from '../format/cipher.ts';
import { bodyFormat, formatField } from '../format/formats.ts';
import { type StoredPartList, sealMac } from '../format/manifest.ts';
import type { ObjectName } from '../format/metadata.ts';
import { type PartRecord, partRecordId } from '../format/records.ts';
import { sealPartChecksums, sealWholeChecksum } from '../format/sealed-checksums.ts';
import type { HeldMemory } from '../held-memory.ts';
import { recoverableParts } from '../keys/recovery-keys.ts';
import { s3Error } from '../s3/error.ts';
import { outward } from '../s3/headers.ts';
import { type ObjectChecksum, readChecksumType } from '../s3/object-checksum.ts';
import { encodeKey } from '../s3/request.ts';
import { type CompletedPart, checksumFields } from '../s3/request-documents.ts';
import { element } from '../s3/xml-text.ts';
import type { SlowResponse } from '../slow-answer.ts';
import { completeAtStore, isNoSuchUpload, noSuchUpload } from './complete-at-store.ts';
import { type Completed, completedObject, hasParts, removeUnusedManifest } from './completed-object.ts';
import { inlineParts } from './inline-parts.ts';
import { removeManifest } from './manifest-store.ts';
import { objectToReplace } from './replaced-object.ts';
import { type DoneRecord, listHash, type UploadRecord } from './upload-record.ts';
import { type VerifiedChecksums, verifyChecksums } from './verify-checksums.ts';

/**
 * Completes an upload: match, verify, seal, write the manifest, complete at the store, record the completion. Each step
 * may be repeated after a crash of this or another proxy.
 */
export async function completeOnce(
  services: ObjectServices,
  context: RequestContext,
  wanted: PartsToComplete,
): Promise<Completed> {
  const name = { bucket: context.request.bucket, key: context.request.key };
  const uploadId = context.request.query.get('uploadId') ?? '';
  const list = listHash(name, wanted.parts);
  const done = await services.uploads.done(name, uploadId);
  if (done?.list === list) return resultOf(name, done);
  const record = await services.uploads.find(name, uploadId);
  const completed = await completeParts(services, context, record, wanted).catch(async (error: unknown) => {
    if (!isNoSuchUpload(error)) throw error;
    const doneSince = await services.uploads.done(name, uploadId);
    if (doneSince?.list === list) return resultOf(name, doneSince);
    if (doneSince === undefined) await forgetAborted(services, context, record);
    throw error;
  });
  const { etag, versionId } = completed;
  await services.uploads.finish(record, { list, etag, versionId }).catch((error: Error) => {
    context.log.warn('proxy.upload.records-left', { error: error.message });
  });
  return completed;
}

const resultOf = (name: ObjectName, { etag, versionId }: DoneRecord): Completed => ({
  ...name,
  etag,
  versionId,
});

/** The Abort may have looked for the manifest before this Complete wrote it. */
async function forgetAborted(
  services: ObjectServices,
  { log }: RequestContext,
  record: UploadRecord,
): Promise<void> {
  try {
    if (await services.uploads.isOpen(record)) return;
    services.partKeys.forget(record.manifest);
    services.uploadKeys.forget(record);
    await removeUnusedManifest(services, record);
  } catch (error) {
    log.warn('proxy.upload.records-left', { error: error instanceof Error ? error.message : 'unknown' });
  }
}

/** Returns the memory for the parts. Nothing refers to them afterwards. */
async function completeParts(
  services: ObjectServices,
  context: RequestContext,
  record: UploadRecord,
  { parts, named, held }: PartsToComplete,
): Promise<Completed> {
  const ids = new Set(parts.map(({ partNumber, etag }) => partRecordId(partNumber, etag)));
  const records = matchParts(parts, await services.uploads.parts.find(record, ids));
  const type = readChecksumType(context.request.headers);
  const checksums = await verifyChecksums(services, record, { parts, records, named, type });
  const sealed = await sealParts(services, record, records, checksums);
  await saveManifest(services, record, sealed);
  const replaced = await objectToReplace(services, record);
  const completed = await completeAtStore(services, context, { record, records, sealed, replaced });
  services.partKeys.forget(record.manifest);
  services.uploadKeys.forget(record);
  await keepManifest(services, record, sealed);
  if (replaced.manifest !== record.manifest) await removeManifest(services, record, replaced.manifest);
  const etag = await inlineParts(services, record, sealed, completed);
  held.release();
  return { ...completed, etag, checksum: checksums.whole };
}

/** The parts of a Complete. */
export interface PartsToComplete {
  readonly parts: readonly CompletedPart[];
  /** The checksum of the whole that it names. */
  readonly named: ObjectChecksum | undefined;
  /** Memory for the parts and their records; released once they are not needed any more. */
  readonly held: HeldMemory;
}

async function sealParts(
  services: ObjectServices,
  record: UploadRecord,
  records: readonly PartRecord[],
  { whole, ofParts }: VerifiedChecksums,
): Promise<StoredPartList> {
  const { manifest, seal } = record;
  const { derived, listKey } = bodyFormat(record.format);
  const key = await services.uploadKeys.unwrapped(record);
  const sealKey = listKey(key, manifest);
  try {
    const parts = derived
      ? await provenParts(key, records)
      : await recoverableParts(services.keys, record, wholeParts(records), sealKey);
    const mac = sealMac(sealKey, manifest, parts, record.format);
    return {
      ...{ ...formatField(record.format), parts, manifest, seal, mac },
      ...(whole && { sum: sealWholeChecksum(sealKey, mac, whole) }),
      ...(ofParts && { sums: sealPartChecksums(sealKey, mac, ofParts) }),
    } as StoredPartList;
  } finally {
    sealKey.fill(0);
    key.fill(0);
  }
}

/** Number of commitments checked before other work gets a turn: 10,000 take half a second. */
const commitmentsAtOnce = 100;

/** @throws EnvelopeError `record-forged` for a part whose record does not match the upload's DEK */
async function provenParts(dek: Buffer, records: readonly PartRecord[]): Promise<SegmentedPart[]> {
  const parts: SegmentedPart[] = [];
  for (const record of records) {
    parts.push(provenPart(dek, record));
    if (parts.length % commitmentsAtOnce === 0) await setImmediate();
  }
  return parts;
}

function provenPart(dek: Buffer, { part, commitment = '' }: PartRecord): SegmentedPart {
  if (!('salt' in part)) throw otherFormat();
  const keys = new BodyKeys(dek, part.salt, part.n);
  try {
    if (keys.proves(commitment, part.size)) return part;
  } finally {
    keys.wipe();
  }
  throw new EnvelopeError('record-forged', 'the record of a part is not the one that was written for it');
}

const wholeParts = (records: readonly PartRecord[]): readonly PartEntry[] =>
  records.map(({ part }) => {
    if ('salt' in part) throw otherFormat();
    return part;
  });

const otherFormat = () =>
  new EnvelopeError('record-forged', 'the record of a part is of another format than its upload');

/**
 * Runs before the store's Complete, so that the object never exists without its manifest. A manifest of another list is
 * left, since the store may have accepted that list through another proxy: `keepManifest` replaces it.
 */
async function saveManifest(
  services: ObjectServices,
  record: UploadRecord,
  sealed: StoredPartList,
): Promise<void> {
  if ((await services.manifests.holds(record, sealed)) === undefined)
    await services.manifests.create(record, sealed);
}

/**
 * The list that the store accepted must stay, so the manifest of another one is replaced only if the object has the parts
 * of this one: a store may name the object's own ETag even where it has not looked at the list.
 */
async function keepManifest(
  services: ObjectServices,
  record: UploadRecord,
  sealed: StoredPartList,
): Promise<void> {
  const held = await services.manifests.holds(record, sealed);
  if (held) return;
  const object = held === false ? await completedObject(services, record) : undefined;
  if (object !== undefined && !(await hasParts(services, record, object, sealed))) throw noSuchUpload(record);
  await services.manifests.save(record, sealed);
}

/**
 * Finds the record of every part that the caller names, in the caller's order.
 * @throws S3Error InvalidPart for a part without a record, or with two, which no honest store produces
 */
export function matchParts(named: readonly CompletedPart[], records: readonly PartRecord[]): PartRecord[] {
  const known = new Map<string, PartRecord | 'ambiguous'>();
  for (const record of records) {
    const id = `${record.part.n} ${record.etag}`;
    known.set(id, known.has(id) && !isWithoutBody(record) ? 'ambiguous' : record);
  }
  return named.map(({ partNumber, etag }) => {
    const record = known.get(`${partNumber} ${etag}`);
    if (record === undefined || record === 'ambiguous')
      throw s3Error('InvalidPart', undefined, { details: { PartNumber: String(partNumber) } });
    return record;
  });
}

/** Empty parts of format 2 have no segment, and so one ETag: each of their records tells all there is. */
const isWithoutBody = ({ part }: PartRecord): boolean => 'salt' in part && part.size === 0;

export function completedAnswer(completed: Completed, location: string): SlowResponse {
  const { bucket, key, etag, versionId, checksum } = completed;
  const fields = [
    element('Location', `${location}/${bucket}/${encodeKey(key)}`),
    element('Bucket', bucket),
    element('Key', key),
    element('ETag', outward(etag)),
    ...(checksum === undefined ? [] : checksumFields(checksum)),
  ];
  return {
    headers: versionId === undefined ? {} : { 'x-amz-version-id': versionId },
    xml: `<CompleteMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${fields.join('')}</CompleteMultipartUploadResult>`,
  };
}
