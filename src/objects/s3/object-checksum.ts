import type { IncomingHttpHeaders } from 'node:http';
import {
  type ChecksumAlgorithm,
  type Checksums,
  type ChecksumType,
  checksumAlgorithms,
  createChecksum,
  decodeDigest,
  manyChecksums,
  toldChecksum,
  type WholeChecksum,
} from './checksum.ts';
import { s3Error } from './error.ts';

/** The checksum that an upload was created with. */
export interface UploadChecksum {
  readonly algorithm: ChecksumAlgorithm;
  readonly type?: ChecksumType;
}

/** A checksum of the whole object, as a caller names it. */
export interface ObjectChecksum extends UploadChecksum {
  readonly value: Buffer;
  /** Number of parts at the end of a composite checksum, if given. */
  readonly parts?: number;
}

/** The checksum as response headers. */
export const wholeChecksumHeaders = ({ algorithm, type, text }: WholeChecksum): Record<string, string> => ({
  [`x-amz-checksum-${algorithm}`]: text,
  'x-amz-checksum-type': type,
});

export interface SummedPart {
  readonly size: number;
  readonly checksum: Buffer;
}

/** Reads the headers of CreateMultipartUpload. @throws S3Error InvalidRequest */
export function readUploadChecksum(headers: IncomingHttpHeaders): UploadChecksum | undefined {
  const name = headers['x-amz-checksum-algorithm'];
  const type = readChecksumType(headers);
  if (name === undefined || name === '') {
    if (type === undefined) return undefined;
    throw s3Error(
      'InvalidRequest',
      'The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.',
    );
  }
  const algorithm = checksumAlgorithms.find((known) => known === String(name).toLowerCase());
  if (algorithm === undefined) {
    const known = checksumAlgorithms.map((one) => one.toUpperCase()).sort();
    throw s3Error(
      'InvalidRequest',
      `Checksum algorithm provided is unsupported. Please try again with any of the valid types: [${known.join(', ')}]`,
    );
  }
  return { algorithm, ...typeOf(type, algorithm) };
}

/**
 * Checks that a part announces the checksum that its upload was created with; for a composite checksum S3 requires one
 * for each part.
 * @throws S3Error InvalidRequest
 */
export function judgePartChecksum(headers: IncomingHttpHeaders, begun: UploadChecksum | undefined): void {
  if (begun === undefined) return;
  const announced = announcedAlgorithm(headers);
  if (announced === begun.algorithm || (announced === undefined && !needsPartChecksums(begun.type))) return;
  throw s3Error(
    'InvalidRequest',
    `Checksum Type mismatch occurred, expected checksum Type: ${begun.algorithm.toUpperCase()}, ` +
      `actual checksum Type: ${announced?.toUpperCase() ?? 'null'}`,
  );
}

const needsPartChecksums = (type: ChecksumType | undefined): boolean => type === 'COMPOSITE';

/** From a header or a trailer; there is at most one. */
function announcedAlgorithm(headers: IncomingHttpHeaders): ChecksumAlgorithm | undefined {
  const trailer = String(headers['x-amz-trailer']).trim().toLowerCase();
  return checksumAlgorithms.find((algorithm) => {
    const name = `x-amz-checksum-${algorithm}`;
    return headers[name] !== undefined || trailer === name;
  });
}

/** Reads the headers of CompleteMultipartUpload. @throws S3Error InvalidRequest */
export function readObjectChecksum(headers: IncomingHttpHeaders): ObjectChecksum | undefined {
  const named = checksumAlgorithms.filter(
    (algorithm) => headers[`x-amz-checksum-${algorithm}`] !== undefined,
  );
  const [algorithm] = named;
  if (algorithm === undefined) return undefined;
  if (named.length > 1) throw manyChecksums();
  const header = `x-amz-checksum-${algorithm}`;
  const [, text = '', count] = /^([^-]*)(?:-(\d{1,5}))?$/.exec(String(headers[header])) ?? [];
  const value = decodeDigest(text, algorithm, `${header} header`);
  const stated = readChecksumType(headers);
  const type = count === undefined ? typeOf(stated, algorithm) : { type: 'COMPOSITE' as const };
  return { algorithm, value, ...type, ...(count !== undefined && { parts: Number(count) }) };
}

/** `x-amz-checksum-type`. @throws S3Error InvalidRequest */
export function readChecksumType(headers: IncomingHttpHeaders): ChecksumType | undefined {
  const type = String(headers['x-amz-checksum-type'] ?? '').toUpperCase();
  if (type === '') return undefined;
  if (type === 'FULL_OBJECT' || type === 'COMPOSITE') return type;
  throw s3Error('InvalidRequest', 'Value for x-amz-checksum-type header is invalid.');
}

function typeOf(type: ChecksumType | undefined, algorithm: ChecksumAlgorithm): { type?: ChecksumType } {
  if (type === undefined) return {};
  if (typesOf(algorithm).includes(type)) return { type };
  throw s3Error(
    'InvalidRequest',
    `The ${type} checksum type cannot be used with the ${algorithm} checksum algorithm.`,
  );
}

/**
 * Checks a Complete of an upload that was created with a checksum.
 * @param stated `x-amz-checksum-type` of the Complete
 * @throws S3Error InvalidRequest for another type, and for a part without checksum in a composite upload
 */
export function judgeCompletedChecksums(
  { algorithm, type }: UploadChecksum,
  stated: ChecksumType | undefined,
  parts: readonly { readonly partNumber: number; readonly named?: Checksums }[],
): void {
  if (stated !== undefined && type !== undefined && stated !== type) {
    throw s3Error(
      'InvalidRequest',
      `The upload was created using the ${type} checksum mode. The complete request must use the same checksum mode.`,
    );
  }
  const bare = needsPartChecksums(type) ? parts.find(({ named }) => named === undefined) : undefined;
  if (bare === undefined) return;
  throw s3Error(
    'InvalidRequest',
    `The upload was created using a ${algorithm} checksum. The complete request must include the checksum for each part. ` +
      `It was missing for part ${bare.partNumber} in the request.`,
  );
}

/** S3 has no composite CRC-64, and a digest of the whole does not follow from digests of the parts. */
function typesOf(algorithm: ChecksumAlgorithm): readonly ChecksumType[] {
  if (algorithm === 'crc64nvme') return ['FULL_OBJECT'];
  return isCrc(algorithm) ? ['FULL_OBJECT', 'COMPOSITE'] : ['COMPOSITE'];
}

/**
 * If neither the caller nor the upload specifies the type, either may match.
 * @throws S3Error BadDigest if the parts result in another checksum or another number of parts than the caller names
 */
export function verifyObjectChecksum(
  named: ObjectChecksum,
  parts: readonly SummedPart[],
  begun?: UploadChecksum,
): WholeChecksum {
  const { algorithm, value } = named;
  const type = named.type ?? (begun?.algorithm === algorithm ? begun.type : undefined);
  const found = (type === undefined ? typesOf(algorithm) : [type]).find((candidate) =>
    checksumOf(algorithm, candidate, parts).equals(value),
  );
  const counted = named.parts === undefined || named.parts === parts.length;
  if (found === undefined || !counted)
    throw s3Error(
      'BadDigest',
      `The ${algorithm.toUpperCase()} you specified did not match the calculated checksum.`,
    );
  return toldChecksum({ algorithm, type: found }, value, parts.length);
}

/** The checksum that an upload was created with, calculated from its parts. */
export function wholeChecksum(begun: UploadChecksum, parts: readonly SummedPart[]): WholeChecksum {
  const { algorithm } = begun;
  const type = typeOfUpload(begun);
  return toldChecksum({ algorithm, type }, checksumOf(algorithm, type, parts), parts.length);
}

/** S3's default if Create does not specify the type. */
export const typeOfUpload = ({ algorithm, type }: UploadChecksum): ChecksumType =>
  type ?? (algorithm === 'crc64nvme' ? 'FULL_OBJECT' : 'COMPOSITE');

function checksumOf(algorithm: ChecksumAlgorithm, type: ChecksumType, parts: readonly SummedPart[]): Buffer {
  if (type === 'FULL_OBJECT' && isCrc(algorithm)) return combineCrcs(algorithm, parts);
  const running = createChecksum(algorithm);
  for (const { checksum } of parts) running.update(checksum);
  return running.digest();
}

/** Checksums where that of the whole follows from those of its pieces. */
export type CrcAlgorithm = 'crc32' | 'crc32c' | 'crc64nvme';

export interface CrcPiece {
  /** Bytes of the piece. */
  readonly size: number;
  /** Big-endian. */
  readonly checksum: Buffer;
}

interface Field {
  readonly bits: bigint;
  /** The polynomial without its highest term; the lowest power is the highest bit. */
  readonly polynomial: bigint;
}

const fields: Readonly<Record<CrcAlgorithm, Field>> = {
  crc32: { bits: 32n, polynomial: 0xedb88320n },
  crc32c: { bits: 32n, polynomial: 0x82f63b78n },
  crc64nvme: { bits: 64n, polynomial: 0x9a6c9329ac4bc9b5n },
};

const isCrc = (algorithm: string): algorithm is CrcAlgorithm => Object.hasOwn(fields, algorithm);

/**
 * The CRC of concatenated pieces. These CRCs start and end with a complement, which cancels out: the CRC of `a`
 * followed by `b` is that of `a`, times x to the power of the number of bits in `b`, plus that of `b`.
 */
export function combineCrcs(algorithm: CrcAlgorithm, pieces: readonly CrcPiece[]): Buffer {
  const field = fields[algorithm];
  /** Powers are reused, as nearly all parts of an upload have the same size. */
  const powers = new Map<number, bigint>();
  let whole = 0n;
  for (const { size, checksum } of pieces) {
    const power = powers.get(size) ?? powerOfX(8n * BigInt(size), field);
    powers.set(size, power);
    whole = product(power, whole, field) ^ BigInt(`0x${checksum.toString('hex')}`);
  }
  return Buffer.from(whole.toString(16).padStart(Number(field.bits / 4n), '0'), 'hex');
}

/** x to this power, by squaring. */
function powerOfX(exponent: bigint, field: Field): bigint {
  let result = 1n << (field.bits - 1n);
  let square = result >> 1n;
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = product(square, result, field);
    square = product(square, square, field);
  }
  return result;
}

/** Product of a and b modulo the polynomial, over GF(2). */
function product(a: bigint, b: bigint, { bits, polynomial }: Field): bigint {
  let sum = 0n;
  let shifted = b;
  for (let term = 1n << (bits - 1n); term > 0n; term >>= 1n) {
    if (a & term) sum ^= shifted;
    shifted = shifted & 1n ? (shifted >> 1n) ^ polynomial : shifted >> 1n;
  }
  return sum;
}
