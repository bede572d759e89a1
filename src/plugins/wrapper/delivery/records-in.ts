/** The records that stand at the beginning of a region, up to the empty one: `KEY=VALUE` bytes in place. */
export function recordsIn(region: Uint8Array): readonly Uint8Array[] {
  const records: Uint8Array[] = [];
  for (let start = 0; start < region.length && region[start] !== 0; ) {
    const nul = region.indexOf(0, start);
    const end = nul === -1 ? region.length : nul;
    records.push(region.subarray(start, end));
    start = end + 1;
  }
  return records;
}

/** What stands behind the first `=` of a record, in place. */
export function valueIn(record: Uint8Array): Buffer {
  const start = record.indexOf(0x3d) + 1;
  return Buffer.from(record.buffer, record.byteOffset + start, record.length - start);
}
