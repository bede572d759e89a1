export interface Sample {
  /** Any unit, the same for all. */
  readonly at: number;
  readonly value: number;
}

/** How much the value grows for each unit of `at`, by least squares; 0 where there are fewer than two samples. */
export function slopeOf(samples: readonly Sample[]): number {
  const meanAt = mean(samples.map(({ at }) => at));
  const meanValue = mean(samples.map(({ value }) => value));
  let covariance = 0;
  let variance = 0;
  for (const { at, value } of samples) {
    covariance += (at - meanAt) * (value - meanValue);
    variance += (at - meanAt) ** 2;
  }
  return variance === 0 ? 0 : covariance / variance;
}

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
