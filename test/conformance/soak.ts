import type { Row } from '../../bench/harness/bench.ts';
import { formatTable } from '../../bench/harness/table.ts';
import type { Part, PartOptions, Report } from './part.ts';
import { SoakClient } from './soak/client.ts';
import { runLoad } from './soak/load.ts';
import { around, type Sample, sampleUntil } from './soak/samples.ts';
import { Tally } from './soak/tally.ts';
import { inMib, residentBound } from './support/figures.ts';
import { type RealBed, startRealBed } from './support/real-bed.ts';

const clients = 8;
/** What may be more at the end than after the first quarter. */
const memoryGrowth = 16 * 1024 ** 2;
const filesGrowth = 16;

/** A mixed load whose every answer is compared with what was written, and whether the proxy grows under it. */
export const soak: Part = {
  name: 'soak',
  summary: 'a mixed load of 8 clients for some minutes: contents, errors, memory, file descriptors',
  async run(report, options) {
    const bed = await startRealBed();
    try {
      const tally = new Tally();
      const samples = await load(bed, options, tally);
      checkAnswers(report, tally);
      checkGrowth(report, samples, bed.proxy.rss().peak);
    } finally {
      await bed.stop();
    }
  },
};

async function load({ s3, proxy }: RealBed, { minutes, seed }: PartOptions, tally: Tally): Promise<Sample[]> {
  const end = performance.now() + minutes * 60_000;
  const over = () => performance.now() >= end;
  const loads = Array.from({ length: clients }, (_, number) =>
    runLoad(new SoakClient(number, seed, s3, tally), over),
  );
  const samples = await sampleUntil(proxy.pid, over);
  await Promise.all(loads);
  return samples;
}

function checkAnswers(report: Report, { done, bytes, errors, differences, examples }: Tally): void {
  report.say([...done].map(([name, count]) => `${name} ${count}`).join(', '));
  report.say(`${inMib(bytes)} written and read`);
  if (examples.length > 0) report.say(examples.join('\n'));
  report.check('every answer is what was written', differences === 0, `${differences} are not`);
  report.check('no request fails', errors === 0, `${errors} failed`);
}

function checkGrowth(report: Report, samples: readonly Sample[], peak: number): void {
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
