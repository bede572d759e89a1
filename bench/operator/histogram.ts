/** Observations by the upper bound of their bucket, counted from the lowest on as Prometheus does. */
export type Buckets = ReadonlyMap<number, number>;

/** Those of a histogram without labels in Prometheus' text. */
export function bucketsIn(exposition: string, name: string): Buckets {
  const lines = exposition.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)"\\} (\\d+)$`, 'gm'));
  return new Map(
    [...lines].map(([, bound, count]) => [bound === '+Inf' ? Infinity : Number(bound), Number(count)]),
  );
}

/** What came between two looks. */
export function since(before: Buckets, after: Buckets): Buckets {
  return new Map([...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)]));
}

/** As `histogram_quantile`: evenly spread within a bucket. NaN without observations. */
export function histogramQuantile(buckets: Buckets, part: number): number {
  const wanted = part * Math.max(0, ...buckets.values());
  let [low, below] = [0, 0];
  for (const [bound, count] of buckets) {
    if (count >= wanted && count > below) {
      return bound === Infinity ? low : low + ((bound - low) * (wanted - below)) / (count - below);
    }
    [low, below] = [bound, count];
  }
  return Number.NaN;
}
