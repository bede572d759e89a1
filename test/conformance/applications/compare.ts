/** What an application needs through the proxy, as a multiple of what it needs at the store. */
export interface Ratios {
  /** Body bytes between proxy and store, both directions. */
  readonly bytes: number;
  readonly requests: number;
}

/** How an application did with one store. */
export type ApplicationOutcome =
  | ({ readonly result: 'passes' } & Ratios)
  | { readonly result: 'fails' | 'fails at the store too' };

/** A line of the table. */
export interface Row {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly versitygw: ApplicationOutcome;
  readonly minio: ApplicationOutcome;
  /** What makes a ratio large, or a result what it is. */
  readonly note?: string;
  /** By which factor the ratios may be exceeded, where chance decides more than usual. */
  readonly slack?: number;
}

const usualSlack = 1.15;

/** What is worse than the row says, or no longer as it says; empty where nothing is. */
export function complaints(
  row: Row | undefined,
  store: 'versitygw' | 'minio',
  found: ApplicationOutcome,
): string[] {
  if (!row) return ['it has no row: run with --write'];
  const recorded = row[store];
  if (recorded.result !== found.result)
    return [`it ${found.result}, and the row says that it ${recorded.result}`];
  if (recorded.result !== 'passes' || found.result !== 'passes') return [];
  const slack = row.slack ?? usualSlack;
  return (['bytes', 'requests'] as const)
    .filter((what) => found[what] > recorded[what] * slack)
    .map((what) => `${what} are ${found[what]} times the store's, and the row says ${recorded[what]}`);
}

/** As the table shows it: two decimals, one from 10 on. */
export const rounded = (ratio: number): number => Number(ratio.toFixed(ratio < 10 ? 2 : 1));
