import type { Random } from './random.ts';

const mib = 1024 ** 2;

/** Bytes of an object: from none to 16 MiB, each order of magnitude as often; now and then above what is verified in memory. */
export function objectSize(random: Random): number {
  const kind = random.fraction();
  if (kind < 0.03) return 0;
  if (kind > 0.97) return 16 * mib + random.below(16 * mib);
  return Math.floor(2 ** (random.fraction() * 24));
}

/** Bytes of the parts of an upload: all but the last have the least that S3 allows, or somewhat more. */
export function partSizes(random: Random): number[] {
  const full = Array.from({ length: 1 + random.below(3) }, () => 5 * mib + random.below(mib));
  return [...full, 1 + random.below(2 * mib)];
}
