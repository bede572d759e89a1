import type { Application } from './applications/application.ts';
import { type ApplicationBed, startApplicationBed } from './applications/bed.ts';
import { applications } from './applications/catalog.ts';
import { type ApplicationOutcome, complaints, type Row } from './applications/compare.ts';
import { readRows, writeRows } from './applications/rows.ts';
import { runTwice } from './applications/run.ts';
import type { Part, Report } from './part.ts';

/** Programs that people use on S3: all that pass at the store pass through the proxy, at no more than the recorded cost. */
export const applicationsPart: Part = {
  name: 'applications',
  summary:
    'programs that people use on S3, at two bare stores and through the proxy, with bytes and requests',
  async run(report, { only, write }) {
    const wanted = applications.filter(({ name }) => only === undefined || only.includes(name));
    const unknown = only?.filter((name) => !applications.some((one) => one.name === name)) ?? [];
    report.check(
      'every name after --only is one of an application',
      unknown.length === 0,
      unknown.join(', '),
    );
    const beds = [await startApplicationBed('versitygw'), await startApplicationBed('minio')];
    const rows = readRows();
    try {
      for (const application of wanted) {
        await tryOne(report, application, beds, rows, write).catch((error: Error) =>
          report.check(`${application.title} can be tried`, false, error.message),
        );
      }
    } finally {
      for (const bed of beds) await bed.stop();
    }
  },
};

async function tryOne(
  report: Report,
  application: Application,
  beds: readonly ApplicationBed[],
  rows: Row[],
  write: boolean,
): Promise<void> {
  const { name, title } = application;
  const version = await application.prepare();
  const row = rows.find((one) => one.name === name);
  if (row && row.version !== version) report.say(`${title} is ${version}, and its row is of ${row.version}`);
  const found: Partial<Record<'versitygw' | 'minio', ApplicationOutcome>> = {};
  for (const bed of beds) {
    const { kind } = bed.store;
    const { outcome, detail } = await runTwice(application, bed);
    found[kind] = outcome;
    report.say(`${title} ${version}, ${kind}: ${JSON.stringify(outcome)}\n${detail}`);
    const wrong = write ? [] : complaints(row, kind, outcome);
    report.check(`${title} with ${kind} is as recorded`, wrong.length === 0, wrong.join('; '));
  }
  if (!write) return;
  const { note, slack } = row ?? {};
  const outcomes = found as Pick<Row, 'versitygw' | 'minio'>;
  const fresh = { name, title, version, ...outcomes, ...(note && { note }), ...(slack && { slack }) };
  rows.splice(0, rows.length, ...ordered([...rows.filter((one) => one.name !== name), fresh]));
  writeRows(rows);
}

/** In the order of the catalogue; what it has not got any more goes. */
function ordered(rows: readonly Row[]): Row[] {
  return applications.flatMap(({ name }) => rows.filter((row) => row.name === name));
}
