import { partChecksumKeyOf } from '../format/body-keys.ts';
import { EnvelopeError } from '../format/cipher.ts';
import type { PartRecord } from '../format/records.ts';
import { openChecksums, type PartChecksums } from '../format/sealed-checksums.ts';
import type { DataKeys } from '../keys/data-keys.ts';
import {
  type ChecksumAlgorithm,
  type Checksums,
  type ChecksumType,
  digestLength,
  loadChecksums,
  type WholeChecksum,
} from '../s3/checksum.ts';
import { s3Error } from '../s3/error.ts';
import {
  judgeCompletedChecksums,
  type ObjectChecksum,
  type SummedPart,
  type UploadChecksum,
  verifyObjectChecksum,
  wholeChecksum,
} from '../s3/object-checksum.ts';
import type { CompletedPart } from '../s3/request-documents.ts';
import type { UploadKeys } from './upload-keys.ts';
import type { UploadRecord } from './upload-record.ts';

/** Number of DEKs unwrapped by one request to the key server, and in the clear at a time. */
const window = 100;

/** A Complete: its parts with their records, and the checksum of the whole if it names one. */
interface Asked {
  readonly parts: readonly CompletedPart[];
  readonly records: readonly PartRecord[];
  readonly named: ObjectChecksum | undefined;
  /** `x-amz-checksum-type`. */
  readonly type?: ChecksumType | undefined;
}

/** Keys that open the part records. */
interface Keys {
  readonly keys: Pick<DataKeys, 'unwrap'>;
  readonly uploadKeys: Pick<UploadKeys, 'dek'>;
}

/**
 * Compares the checksums that a Complete names, of parts and of the whole, with those calculated while the parts
 * passed. Parts whose checksum was neither sent nor requested by Create have none, and are accepted as they are.
 * @returns the checksum of the whole that the Complete names, or else the one Create asked for, and the part checksums
 *   behind it
 * @throws S3Error InvalidPart for a wrong checksum of a part; BadDigest for a wrong checksum of the whole, and for a
 *   part's checksum of another algorithm than Create named; InvalidRequest for the whole's checksum of another
 *   algorithm, for another checksum type, and for a missing part checksum; EnvelopeError `record-forged`
 */
export async function verifyChecksums(
  keys: Keys,
  upload: UploadRecord,
  { parts, records, named, type }: Asked,
): Promise<VerifiedChecksums> {
  if (upload.checksum !== undefined) judgeCompletedChecksums(upload.checksum, type, parts);
  const algorithm = named?.algorithm ?? upload.checksum?.algorithm;
  if (algorithm === undefined && parts.every((part) => part.named === undefined)) return {};
  const digests = algorithm && Buffer.alloc(records.length * digestLength[algorithm]);
  const summed: SummedPart[] = [];
  let verified = 0;
  for await (const opened of openInWindows(keys, upload, records))
    for (const known of opened) {
      const record = records[verified] as PartRecord;
      verifyPart(upload, parts[verified++] as CompletedPart, known);
      const digest = algorithm && checksumIn(upload, known, algorithm);
      if (digest && digests)
        summed.push({ size: record.part.size, checksum: keep(digest, digests, summed.length) });
    }
  if (algorithm === undefined || digests === undefined) return {};
  if (summed.length < records.length) {
    if (upload.checksum !== undefined) throw otherAlgorithm(upload.checksum, algorithm);
    return {};
  }
  await loadChecksums([algorithm]);
  const whole =
    named === undefined
      ? upload.checksum && wholeChecksum(upload.checksum, summed)
      : verifyObjectChecksum(named, summed, upload.checksum);
  return { whole, ofParts: { algorithm, digests } };
}

/** Digests share one buffer: separate ones would take ten times the memory. */
function keep(digest: Buffer, digests: Buffer, index: number): Buffer {
  const at = index * digest.length;
  digest.copy(digests, at);
  return digests.subarray(at, at + digest.length);
}

/** Checksums to keep with the object. */
export interface VerifiedChecksums {
  readonly whole?: WholeChecksum | undefined;
  readonly ofParts?: PartChecksums;
}

/** The checksums of every part, in order; an empty map for a part without. */
export async function openRecordedChecksums(
  keys: Keys,
  upload: UploadRecord,
  records: readonly PartRecord[],
): Promise<readonly Checksums[]> {
  const opened: Checksums[] = [];
  for await (const some of openInWindows(keys, upload, records)) opened.push(...some);
  return opened;
}

async function* openInWindows(
  keys: Keys,
  upload: UploadRecord,
  records: readonly PartRecord[],
): AsyncGenerator<readonly Checksums[]> {
  const segmented = upload.format === 2 && records.some(({ sealed }) => sealed !== undefined);
  const key = segmented ? await segmentedKey(keys, upload) : undefined;
  try {
    for (let from = 0; from < records.length; from += window) {
      const some = records.slice(from, from + window);
      yield upload.format === 2
        ? some.map((record) => openSegmented(key, record))
        : await openSome(keys, upload, some);
    }
  } finally {
    key?.fill(0);
  }
}

/** One key opens the checksums of all parts. */
async function segmentedKey({ uploadKeys }: Keys, upload: UploadRecord): Promise<Buffer> {
  const dek = await uploadKeys.dek(upload);
  try {
    return partChecksumKeyOf(dek, upload.manifest);
  } finally {
    dek.fill(0);
  }
}

const openSegmented = (key: Buffer | undefined, { part, sealed }: PartRecord): Checksums =>
  key === undefined || sealed === undefined || !('salt' in part)
    ? new Map()
    : openChecksums(key, { nonce: part.salt, size: part.size }, sealed);

async function openSome(
  { keys }: Keys,
  upload: UploadRecord,
  records: readonly PartRecord[],
): Promise<Checksums[]> {
  const items = records.flatMap(({ part, sealed }) =>
    sealed === undefined || !('dek' in part)
      ? []
      : [{ wrapped: part.dek, purpose: { kind: 'part', upload: upload.manifest, number: part.n } as const }],
  );
  const deks = items.length === 0 ? [] : await keys.unwrap(upload, upload, items);
  try {
    let next = 0;
    return records.map(({ part, sealed }) =>
      sealed === undefined || !('dek' in part)
        ? new Map()
        : openChecksums(deks[next++] as Buffer, part, sealed),
    );
  } finally {
    for (const dek of deks) dek.fill(0);
  }
}

function verifyPart(
  upload: UploadRecord,
  { partNumber, etag, named = new Map() }: CompletedPart,
  known: Checksums,
) {
  for (const [algorithm, digest] of named) {
    const checksum = checksumIn(upload, known, algorithm);
    if (checksum === undefined && upload.checksum !== undefined) {
      throw s3Error(
        'BadDigest',
        `The ${algorithm} you specified for part ${partNumber} did not match what we received.`,
      );
    }
    if (checksum === undefined || checksum.equals(digest)) continue;
    throw s3Error('InvalidPart', undefined, {
      details: { UploadId: upload.uploadId, PartNumber: String(partNumber), ETag: etag },
    });
  }
}

/** Undefined if the part has no checksum of that algorithm. */
function checksumIn(
  { checksum }: UploadRecord,
  known: Checksums,
  algorithm: ChecksumAlgorithm,
): Buffer | undefined {
  const found = known.get(algorithm);
  if (found === undefined && checksum?.algorithm === algorithm)
    throw new EnvelopeError(
      'record-forged',
      'the record of a part does not have the checksum that it was written with',
    );
  return found;
}

const otherAlgorithm = (begun: UploadChecksum, named: ChecksumAlgorithm) =>
  s3Error(
    'InvalidRequest',
    `The upload was begun with the checksum algorithm ${begun.algorithm}; one of ${named} cannot be verified.`,
  );
