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
export function crc32c(data: Buffer, previous = 0): number {
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

const of = (table: Int32Array, index: number): number => table[index] as number;
