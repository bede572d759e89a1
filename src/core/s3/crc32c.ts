const polynomial = 0x82f63b78;
const slices = 8;

let tables: Int32Array | undefined;

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
export function crc32c(data: Uint8Array, previous = 0): number {
  tables ??= buildTables();
  const t = tables as unknown as { readonly [index: number]: number };
  const d = data as { readonly [index: number]: number };
  const whole = data.length - (data.length % slices);
  let crc = ~previous;
  let at = 0;
  for (; at < whole; at += slices) {
    const low = crc ^ (d[at]! | (d[at + 1]! << 8) | (d[at + 2]! << 16) | (d[at + 3]! << 24));
    crc =
      t[1792 + (low & 255)]! ^
      t[1536 + ((low >>> 8) & 255)]! ^
      t[1280 + ((low >>> 16) & 255)]! ^
      t[1024 + (low >>> 24)]! ^
      t[768 + d[at + 4]!]! ^
      t[512 + d[at + 5]!]! ^
      t[256 + d[at + 6]!]! ^
      t[d[at + 7]!]!;
  }
  for (; at < data.length; at++) crc = (crc >>> 8) ^ t[(crc ^ d[at]!) & 255]!;
  return ~crc;
}
