import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Crc64Nvme } from './crc64nvme.ts';

export type ChecksumAlgorithm = 'crc32' | 'crc32c' | 'crc64nvme' | 'sha1' | 'sha256' | 'md5';

/** Of one body. */
export type Checksums = ReadonlyMap<ChecksumAlgorithm, Buffer>;

export interface Checksum {
  update(data: Buffer): void;
  /** Big-endian; once. */
  digest(): Buffer;
}

let tables: Int32Array | undefined;
const slices = 8;

const polynomial = 0x82f63b78;

const of = (table: Int32Array, index: number): number => table[index] as number;

/** Bytes of a digest. */
export const digestLength: Readonly<Record<ChecksumAlgorithm, number>> = {
  crc32: 4,
  crc32c: 4,
  crc64nvme: 8,
  sha1: 20,
  sha256: 32,
  md5: 16,
};

export function createChecksum(algorithm: ChecksumAlgorithm): Checksum {
  switch (algorithm) {
    case 'crc32':
      return new RunningCrc32(crc32);
    case 'crc32c':
      return new RunningCrc32(crc32c);
    case 'crc64nvme':
      return new Crc64Nvme();
    default:
      return createHash(algorithm);
  }
}

class RunningCrc32 implements Checksum {
  #value = 0;
  readonly #continue: (data: Buffer, previous: number) => number;

  constructor(continueFrom: (data: Buffer, previous: number) => number) {
    this.#continue = continueFrom;
  }

  update(data: Buffer): void {
    this.#value = this.#continue(data, this.#value);
  }

  digest(): Buffer {
    const out = Buffer.allocUnsafe(4);
    out.writeInt32BE(this.#value | 0);
    return out;
  }
}

/** Eight tables of 256 entries: entry [s][b] is the remainder of byte `b` followed by `s` zero bytes. */
function buildTables(): Int32Array {
  const built = new Int32Array(slices * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
    built[byte] = crc;
  }
  for (let at = 256; at < built.length; at++) {
    const shorter = built[at - 256] as number;
    built[at] = (shorter >>> 8) ^ (built[shorter & 255] as number);
  }
  return built;
}

/** CRC-32C (Castagnoli) of `data`, continuing from `previous`; a signed 32-bit integer. */
function crc32c(data: Buffer, previous = 0): number {
  tables ??= buildTables();
  const t = tables;
  const whole = data.length - (data.length % slices);
  let crc = ~previous;
  let at = 0;
  for (; at < whole; at += slices) {
    const a = crc ^ data.readInt32LE(at);
    const b = data.readInt32LE(at + 4);
    crc =
      of(t, 1792 + (a & 255)) ^
      of(t, 1536 + ((a >>> 8) & 255)) ^
      of(t, 1280 + ((a >>> 16) & 255)) ^
      of(t, 1024 + (a >>> 24)) ^
      of(t, 768 + (b & 255)) ^
      of(t, 512 + ((b >>> 8) & 255)) ^
      of(t, 256 + ((b >>> 16) & 255)) ^
      of(t, b >>> 24);
  }
  for (; at < data.length; at++) crc = (crc >>> 8) ^ of(t, (crc ^ data.readUInt8(at)) & 255);
  return ~crc;
}
