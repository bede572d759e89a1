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

/** CRC-64/NVME, kept as two halves since numbers hold 53 bits. */
export class Crc64Nvme {
  #high = -1;
  #low = -1;

  update(data: Uint8Array): void {
    tables ??= buildTables();
    const { high: h, low: l } = tables as unknown as Record<'high' | 'low', { readonly [index: number]: number }>;
    const d = data as { readonly [index: number]: number };
    const whole = data.length - (data.length % slices);
    let high = this.#high;
    let low = this.#low;
    let at = 0;
    for (; at < whole; at += slices) {
      const a = low ^ (d[at]! | (d[at + 1]! << 8) | (d[at + 2]! << 16) | (d[at + 3]! << 24));
      const b = high ^ (d[at + 4]! | (d[at + 5]! << 8) | (d[at + 6]! << 16) | (d[at + 7]! << 24));
      const i0 = 1792 + (a & 255);
      const i1 = 1536 + ((a >>> 8) & 255);
      const i2 = 1280 + ((a >>> 16) & 255);
      const i3 = 1024 + (a >>> 24);
      const i4 = 768 + (b & 255);
      const i5 = 512 + ((b >>> 8) & 255);
      const i6 = 256 + ((b >>> 16) & 255);
      const i7 = b >>> 24;
      high = h[i0]! ^ h[i1]! ^ h[i2]! ^ h[i3]! ^ h[i4]! ^ h[i5]! ^ h[i6]! ^ h[i7]!;
      low = l[i0]! ^ l[i1]! ^ l[i2]! ^ l[i3]! ^ l[i4]! ^ l[i5]! ^ l[i6]! ^ l[i7]!;
    }
    for (; at < data.length; at++) {
      const index = (low ^ d[at]!) & 255;
      low = ((low >>> 8) | (high << 24)) ^ l[index]!;
      high = (high >>> 8) ^ h[index]!;
    }
    this.#high = high;
    this.#low = low;
  }

  digest(): Buffer {
    const out = Buffer.allocUnsafe(8);
    out.writeInt32BE(~this.#high, 0);
    out.writeInt32BE(~this.#low, 4);
    return out;
  }
}
