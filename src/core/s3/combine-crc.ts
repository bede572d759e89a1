/** Checksums of which that of a whole follows from those of its pieces. */
export type CrcAlgorithm = 'crc32' | 'crc32c' | 'crc64nvme';

export interface CrcPiece {
  /** Bytes that it is of. */
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

export const isCrc = (algorithm: string): algorithm is CrcAlgorithm => Object.hasOwn(fields, algorithm);

/**
 * The CRC of pieces that follow one another. Each of these CRCs begins and ends with the complement, which cancel out:
 * that of `a` before `b` is that of `a`, times x to the power of the bits of `b`, plus that of `b`.
 */
export function combineCrcs(algorithm: CrcAlgorithm, pieces: readonly CrcPiece[]): Buffer {
  const field = fields[algorithm];
  /** Nearly all parts of an upload have the same size. */
  const powers = new Map<number, bigint>();
  let whole = 0n;
  for (const { size, checksum } of pieces) {
    const power = powers.get(size) ?? powerOfX(8n * BigInt(size), field);
    powers.set(size, power);
    whole = product(power, whole, field) ^ BigInt(`0x${checksum.toString('hex')}`);
  }
  return Buffer.from(whole.toString(16).padStart(Number(field.bits / 4n), '0'), 'hex');
}

/** x to that power, by squaring. */
function powerOfX(exponent: bigint, field: Field): bigint {
  let result = 1n << (field.bits - 1n);
  let square = result >> 1n;
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = product(square, result, field);
    square = product(square, square, field);
  }
  return result;
}

/** a times b modulo the polynomial, over GF(2). */
function product(a: bigint, b: bigint, { bits, polynomial }: Field): bigint {
  let sum = 0n;
  let shifted = b;
  for (let term = 1n << (bits - 1n); term > 0n; term >>= 1n) {
    if (a & term) sum ^= shifted;
    shifted = shifted & 1n ? (shifted >> 1n) ^ polynomial : shifted >> 1n;
  }
  return sum;
}
