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
