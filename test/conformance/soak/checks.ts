import type { Row } from '../../../bench/harness/bench.ts';
import { formatTable } from '../../../bench/harness/table.ts';
import type { Report } from '../part.ts';
import { inMib, residentBound } from '../support/figures.ts';
import { around, type Sample } from './samples.ts';
import type { Tally } from './tally.ts';

/** What may be more at the end than after the first quarter. */
const memoryGrowth = 16 * 1024 ** 2;
const filesGrowth = 16;

export function checkAnswers(report: Report, { done, bytes, errors, differences, examples }: Tally): void {
  report.say([...done].map(([name, count]) => `${name} ${count}`).join(', '));
  report.say(`${inMib(bytes)} written and read`);
  if (examples.length > 0) report.say(examples.join('\n'));
  report.check('every answer is what was written', differences === 0, `${differences} are not`);
  report.check('no request fails', errors === 0, `${errors} failed`);
}

export function checkGrowth(report: Report, samples: readonly Sample[], peak: number): void {
  const [first = { rss: 0, files: 0, spooled: 0 }] = samples;
  const [quarter, half, end] = [around(samples, 0.25), around(samples, 0.5), around(samples, 1)];
  const row = (name: string, { rss, files, spooled }: Sample): Row => ({
    name,
    cells: [inMib(rss), files, spooled],
  });
  const rows = [row('start', first), row('quarter', quarter), row('half', half), row('end', end)];
  const columns = ['resident', 'file descriptors', 'spooled bodies'];
  report.say(`\n${formatTable({ title: 'The proxy', columns, rows })}\n`);
  const grown = end.rss - quarter.rss;
  const what = `resident memory grows by at most ${inMib(memoryGrowth)} after the first quarter`;
  report.check(what, grown <= memoryGrowth, inMib(grown));
  const opened = end.files - quarter.files;
  report.check(
    `file descriptors grow by at most ${filesGrowth} after it`,
    opened <= filesGrowth,
    `${opened}`,
  );
  report.check(
    `the proxy stays within ${inMib(residentBound)}`,
    peak <= residentBound,
    `peak ${inMib(peak)}`,
  );
}
