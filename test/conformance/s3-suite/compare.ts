/** One test of the suite, as the tool prints it. */
export interface Row {
  readonly group: string;
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly reason?: string;
}

/** Why rows that pass at the store fail through the proxy. */
export interface Cause {
  /** A decision of the design, or a defect that is still to be fixed. */
  readonly kind: 'decision' | 'defect';
  readonly cause: string;
  readonly rows: readonly string[];
}

export interface Totals {
  readonly group: string;
  readonly atStore: number;
  readonly lost: number;
}

export interface Comparison {
  readonly totals: readonly Totals[];
  /** Passed at the store, not through the proxy, and no cause names them. */
  readonly unexplained: readonly Row[];
  /** Named by a cause, and not lost. */
  readonly stale: readonly string[];
  readonly lost: readonly Row[];
}

/** Sets what passes at the store against what passes through the proxy, and against what is known to be lost. */
export function compareRows(
  atStore: readonly Row[],
  throughProxy: readonly Row[],
  known: readonly Cause[],
): Comparison {
  const through = byName(throughProxy);
  const passing = [...byName(atStore).values()].filter(({ outcome }) => outcome === 'passed');
  const lost = passing
    .filter(({ name }) => through.get(name)?.outcome !== 'passed')
    .map((row) => through.get(row.name) ?? { ...row, outcome: 'failed' as const, reason: 'did not run' });
  const names = new Set(lost.map(({ name }) => name));
  const explained = known.flatMap(({ rows }) => rows);
  return {
    totals: [...new Set(passing.map(({ group }) => group))].map((group) => ({
      group,
      atStore: count(passing, group),
      lost: count(lost, group),
    })),
    unexplained: lost.filter(({ name }) => !explained.includes(name)),
    stale: explained.filter((name, index) => !names.has(name) || explained.indexOf(name) !== index),
    lost,
  };
}

/** Some tests bear the same name: it passes if all of them do. */
function byName(rows: readonly Row[]): Map<string, Row> {
  const found = new Map<string, Row>();
  for (const row of rows) {
    const before = found.get(row.name);
    if (before === undefined || before.outcome === 'passed') found.set(row.name, row);
  }
  return found;
}

function count(rows: readonly Row[], wanted: string): number {
  return rows.filter(({ group }) => group === wanted).length;
}
