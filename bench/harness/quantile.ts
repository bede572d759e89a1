/** The least value that this part of them does not exceed: 0.99 of 200 is the third highest. Throws on an empty list. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)];
  if (value === undefined) throw new RangeError('quantile of nothing');
  return value;
}
