const polynomial = 0x9a6c9329ac4bc9b5n;
const slices = 8;

/** High and low halves of eight tables of 256 entries: [s][b] is byte `b` followed by `s` zero bytes. */
interface Tables {
  readonly high: Int32Array;
  readonly low: Int32Array;
}

let tables: Tables | undefined;

function buildTables(): Tables {
  const entries: bigint[] = [];
  for (let byte = 0n; byte < 256n; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ polynomial : crc >> 1n;
    entries.push(crc);
  }
  for (let at = 256; at < slices * 256; at++) {
    const shorter = entries[at - 256] as bigint;
    entries.push((shorter >> 8n) ^ (entries[Number(shorter & 255n)] as bigint));
  }
  const high = Int32Array.from(entries, (entry) => Number(BigInt.asIntN(32, entry >> 32n)));
  const low = Int32Array.from(entries, (entry) => Number(BigInt.asIntN(32, entry)));
  return { high, low };
}

/** CRC-64/NVME, kept in two halves because numbers hold only 53 bits. */
export class Crc64Nvme {
  #high = -1;
  #low = -1;

  update(data: Buffer): void {
    tables ??= buildTables();
    const whole = data.length - (data.length % slices);
    this.#eightAtOnce(data, whole, tables);
    this.#bytes(data.subarray(whole), tables);
  }

  #eightAtOnce(data: Buffer, end: number, { high: h, low: l }: Tables): void {
    let high = this.#high;
    let low = this.#low;
    for (let at = 0; at < end; at += slices) {
      const a = low ^ data.readInt32LE(at);
      const b = high ^ data.readInt32LE(at + 4);
      const i0 = 1792 + (a & 255);
      const i1 = 1536 + ((a >>> 8) & 255);
      const i2 = 1280 + ((a >>> 16) & 255);
      const i3 = 1024 + (a >>> 24);
      const i4 = 768 + (b & 255);
      const i5 = 512 + ((b >>> 8) & 255);
      const i6 = 256 + ((b >>> 16) & 255);
      const i7 = b >>> 24;
      high = of(h, i0) ^ of(h, i1) ^ of(h, i2) ^ of(h, i3) ^ of(h, i4) ^ of(h, i5) ^ of(h, i6) ^ of(h, i7);
      low = of(l, i0) ^ of(l, i1) ^ of(l, i2) ^ of(l, i3) ^ of(l, i4) ^ of(l, i5) ^ of(l, i6) ^ of(l, i7);
    }
    this.#high = high;
    this.#low = low;
  }

  #bytes(data: Buffer, { high, low }: Tables): void {
    for (const byte of data) {
      const index = (this.#low ^ byte) & 255;
      this.#low = ((this.#low >>> 8) | (this.#high << 24)) ^ of(low, index);
      this.#high = (this.#high >>> 8) ^ of(high, index);
    }
  }

  digest(): Buffer {
    const out = Buffer.allocUnsafe(8);
    out.writeInt32BE(~this.#high, 0);
    out.writeInt32BE(~this.#low, 4);
    return out;
  }
}

const of = (table: Int32Array, index: number): number => table[index] as number;
