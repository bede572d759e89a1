import type { Part, Report } from './part.ts';
import { type Comparison, compareRows, type Row } from './s3-suite/compare.ts';
import { lostRows, unsteadyRows } from './s3-suite/lost-rows.ts';
import { suiteRows } from './s3-suite/rows.ts';

/** What somebody else's tests of S3 find at the store and do not find through the proxy. */
export const s3Suite: Part = {
  name: 's3-suite',
  summary: "versitygw's own integration suite, at the bare store and through the proxy",
  async run(report) {
    const plain = await suiteRows(false);
    const versioned = await suiteRows(true);
    const atStore = [...plain.atStore, ...versioned.atStore].filter(isSteady);
    const throughProxy = [...plain.throughProxy, ...versioned.throughProxy].filter(isSteady);
    const comparison = compareRows(atStore, throughProxy, lostRows);
    report.say(table(comparison));
    sayCauses(report, comparison);
    report.check('the suite runs', comparison.totals.length > 0, `${atStore.length} tests`);
    const { unexplained, stale } = comparison;
    report.check(
      'every row that is lost through the proxy has a cause in lost-rows.ts',
      unexplained.length === 0,
      unexplained.map(shown).join('\n'),
    );
    report.check('every row in lost-rows.ts is still lost', stale.length === 0, stale.join(', '));
  },
};

const isSteady = ({ name }: Row): boolean => !unsteadyRows.includes(name);

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

function sayCauses(report: Report, { lost }: Comparison): void {
  const names = new Set(lost.map(({ name }) => name));
  for (const kind of ['decision', 'defect'] as const) {
    const causes = lostRows.filter((one) => one.kind === kind);
    const still = (rows: readonly string[]) => rows.filter((row) => names.has(row)).length;
    const sum = causes.reduce((total, { rows }) => total + still(rows), 0);
    report.say(`${kind}: ${sum}`);
    for (const { cause, rows } of causes) report.say(`  ${String(still(rows)).padStart(3)}  ${cause}`);
  }
}

const shown = ({ group, name, reason = '' }: Row) => `${group}/${name}: ${reason.slice(0, 300)}`;
