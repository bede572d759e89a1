import type { Part, Report } from '../part.ts';
import { type Comparison, compareRows, type Row } from './compare.ts';
import { type Measurement, measurements } from './measurements.ts';
import { type SuiteName, suiteRows } from './rows.ts';

/** A suite of somebody else, run against each store and through the proxy, and set against what is known to be lost. */
export function suitePart(name: SuiteName, summary: string): Part {
  return {
    name,
    summary,
    async run(report, { store }) {
      const wanted = measurements.filter((one) => one.suite === name && (store ?? one.store) === one.store);
      for (const measurement of wanted) await measure(report, measurement);
    },
  };
}

async function measure(report: Report, measurement: Measurement): Promise<void> {
  const { suite, store, lost: known, unsteady } = measurement;
  const runs = [await suiteRows({ suite, store, versioning: false })];
  if (suite === 's3-suite') runs.push(await suiteRows({ suite, store, versioning: true }));
  const isSteady = ({ name }: Row): boolean => !unsteady.includes(name);
  const atStore = runs.flatMap((run) => run.atStore).filter(isSteady);
  const throughProxy = runs.flatMap((run) => run.throughProxy).filter(isSteady);
  const comparison = compareRows(atStore, throughProxy, known);
  report.say(`${suite}, ${store}\n${table(comparison)}`);
  sayCauses(report, measurement, comparison);
  judge(report, measurement, comparison);
}

function judge(report: Report, { store, passing }: Measurement, comparison: Comparison): void {
  const { totals, unexplained, stale } = comparison;
  const passed = totals.reduce((sum, { atStore }) => sum + atStore, 0);
  report.check(`as many rows pass at ${store} as measurements.ts says`, passed === passing, String(passed));
  report.check(
    'every row that is lost through the proxy has a cause',
    unexplained.length === 0,
    unexplained.map(shown).join('\n'),
  );
  report.check('every row that has a cause is still lost', stale.length === 0, stale.join(', '));
}

function table({ totals }: Comparison): string {
  const all = {
    group: 'all',
    atStore: totals.reduce((sum, { atStore }) => sum + atStore, 0),
    lost: totals.reduce((sum, { lost }) => sum + lost, 0),
  };
  const widest = Math.max(...totals.map(({ group }) => group.length));
  const line = (group: string, atStore: string, lost: string) =>
    `${group.padEnd(widest)}  ${atStore.padStart(8)}  ${lost.padStart(4)}`;
  return [
    line('group', 'at store', 'lost'),
    ...[...totals, all].map(({ group, atStore, lost }) => line(group, String(atStore), String(lost))),
  ].join('\n');
}

function sayCauses(report: Report, { lost: known }: Measurement, { lost }: Comparison): void {
  const names = new Set(lost.map(({ name }) => name));
  for (const kind of ['decision', 'defect'] as const) {
    const causes = known.filter((one) => one.kind === kind);
    const still = (rows: readonly string[]) => rows.filter((row) => names.has(row)).length;
    const sum = causes.reduce((total, { rows }) => total + still(rows), 0);
    report.say(`${kind}: ${sum}`);
    for (const { cause, rows } of causes) report.say(`  ${String(still(rows)).padStart(3)}  ${cause}`);
  }
}

const shown = ({ group, name, reason = '' }: Row) => `${group}/${name}: ${reason.slice(0, 300)}`;
