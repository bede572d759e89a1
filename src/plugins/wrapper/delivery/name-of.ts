/** What stands before the first `=` of a `KEY=VALUE` string; one without it has no name. */
export function nameOf(entry: Uint8Array): string {
  const end = entry.indexOf(0x3d);
  return Buffer.from(entry.subarray(0, Math.max(end, 0))).toString();
}
