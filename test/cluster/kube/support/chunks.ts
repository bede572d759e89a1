/** The bytes, cut at these places. */
export function* chunksOf(bytes: Buffer, cuts: readonly number[]): Generator<Buffer> {
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  for (const [index, end] of [...ends, bytes.length].entries())
    yield bytes.subarray(ends[index - 1] ?? 0, end);
}
