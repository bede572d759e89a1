import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { crc32c } from './crc32c.ts';
import { Crc64Nvme } from './crc64nvme.ts';

export type ChecksumAlgorithm = 'crc32' | 'crc32c' | 'crc64nvme' | 'sha1' | 'sha256' | 'md5';

/** Of one body. */
export type Checksums = ReadonlyMap<ChecksumAlgorithm, Buffer>;

export interface Checksum {
  update(data: Buffer): void;
  /** Big-endian; once. */
  digest(): Buffer;
}

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
