import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { isDeepStrictEqual } from 'node:util';
import type { BucketReport } from '../../src/plugins/bulk/audit/report.ts';
import type { Tally } from '../../src/plugins/bulk/audit/tally.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { expectedTally } from './audit-million/expected.ts';
import { type Filled, fill } from './audit-million/fill.ts';
import { firstTenth } from './audit-million/kinds.ts';
import { type AuditRun, runAudit } from './audit-million/run-audit.ts';
import type { Part, Report } from './part.ts';
import { inMib } from './support/figures.ts';
import { type RealBed, startRealBed } from './support/real-bed.ts';

const fewest = 10_000;
/** Objects of the sample: of a million one in a hundred. */
const sampleOf = (objects: number) => Math.min(10_000, Math.ceil(objects / 10));
/** Standard deviations by which a sample is not wrong in a billion runs. */
const neverSoFar = 6;
/** What one audit may hold in memory. Bytes. */
const memoryBound = 400 * 1024 ** 2;
/** By how much ten times as many objects may need more. Bytes. */
const growthBound = 64 * 1024 ** 2;

/** A bucket of a million objects of all sorts, audited whole, by a sample, and killed in the middle and resumed. */
export const auditMillion: Part = {
  name: 'audit-million',
  summary: 'svc audit of a bucket with a million objects: whole, a sample, and killed and resumed',
  async run(report, { objects = 1_000_000 }) {
    if (objects < fewest)
      throw new Error(`--objects takes at least ${count(fewest)}, to be killed between pages`);
    // part lists beside the object, so that there are helper objects, too
    const bed = await startRealBed({ proxyArgs: ['--inline-limit', '0'] });
    try {
      const filled = await filling(report, bed, objects);
      await checkSample(report, bed, objects);
      const whole = await checkWhole(report, bed, objects, filled);
      await checkResumed(report, bed, objects, whole);
    } finally {
      await bed.stop();
    }
  },
};

async function filling(report: Report, bed: RealBed, objects: number): Promise<Filled> {
  const begun = performance.now();
  const { store, s3: through, rotate } = bed;
  const filled = await fill({ dataDir: store.dataDir, through, direct: store.client, rotate }, objects);
  const seconds = (performance.now() - begun) / 1_000;
  report.say(
    `${count(objects)} objects in ${seconds.toFixed(0)} s: ${filled.originals} written through S3, ` +
      'the others further names of their files',
  );
  return filled;
}

async function checkSample(report: Report, { store }: RealBed, objects: number): Promise<void> {
  const size = sampleOf(objects);
  const run = await runAudit(store, ['--sample', String(size)]);
  tell(report, 'a sample', run, size);
  const { sample, tally } = reportOf(run);
  report.check('the sample lists every object', sample?.listed === objects, count(sample?.listed ?? 0));
  report.check('it looks at as many as were asked for', tally.objects === size, count(tally.objects));
  const truth = expectedTally(objects).encrypted / objects;
  const { share = 0, low = 0, high = 1 } = sample?.encrypted ?? {};
  const detail = `${percent(share)}, between ${percent(low)} and ${percent(high)}; it is ${percent(truth)}`;
  const deviation = Math.sqrt((truth * (1 - truth)) / size);
  const near = Math.abs(share - truth) < neverSoFar * deviation;
  report.check('it estimates the share of ciphertext', near, detail);
  checkMemory(report, 'the sample', run);
}

async function checkWhole(
  report: Report,
  { store }: RealBed,
  objects: number,
  { bytes }: Filled,
): Promise<Tally> {
  const tenth = await runAudit(store, ['--prefix', firstTenth]);
  tell(report, `what is below ${firstTenth}`, tenth, reportOf(tenth).tally.objects);
  const run = await runAudit(store, []);
  tell(report, 'everything', run, objects);
  const { tally } = reportOf(run);
  checkFigures(report, 'everything is told as it is', tally, { ...expectedTally(objects), bytes });
  checkMemory(report, 'everything', run);
  const growth = run.peak - tenth.peak;
  const claim = `all objects take at most ${inMib(growthBound)} more than a tenth of them`;
  report.check(claim, growth <= growthBound, inMib(growth));
  return tally;
}

async function checkResumed(
  report: Report,
  { store }: RealBed,
  objects: number,
  whole: Tally,
): Promise<void> {
  const folder = temporaryFolder('audit');
  const file = join(folder.path, 'progress');
  try {
    const args = ['--resume', file];
    const killed = await runAudit(store, args, () => counted(file) >= objects / 2);
    const before = counted(file);
    tell(report, 'until it was killed', killed, before);
    report.check(
      'it was killed in the middle',
      killed.report === undefined && before < objects,
      count(before),
    );
    let least = objects;
    const resumed = await runAudit(store, args, () => {
      const now = counted(file);
      if (now !== before) least = Math.min(least, now);
      return false;
    });
    tell(report, 'from there to the end', resumed, objects - before);
    report.check('it went on and did not begin anew', least > before, `first seen at ${count(least)}`);
    const { tally } = reportOf(resumed);
    report.check('killed and resumed it tells the same', isDeepStrictEqual(tally, whole), figures(tally));
    checkMemory(report, 'what was resumed', resumed);
  } finally {
    await folder.remove();
  }
}

/** What the file of the progress says; 0 where there is none yet. */
function counted(file: string): number {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).tally.objects;
  } catch {
    return 0;
  }
}

function checkFigures(report: Report, claim: string, tally: Tally, expected: Partial<Tally>): void {
  const wrong = (Object.keys(expected) as (keyof Tally)[]).filter(
    (name) => !isDeepStrictEqual(tally[name], expected[name]),
  );
  const not = wrong.map(
    (name) => `${name} ${JSON.stringify(tally[name])}, not ${JSON.stringify(expected[name])}`,
  );
  report.check(claim, wrong.length === 0, [figures(tally), ...not].join('; '));
}

function figures({ objects, encrypted, plaintext, unreadable, helpers, keyVersions }: Tally): string {
  const versions = Object.entries(keyVersions).map(([name, number]) => `${name} ${count(number)}`);
  return (
    `${count(objects)} objects, ${count(encrypted)} ciphertext (${versions.join(', ')}), ` +
    `${count(plaintext)} not encrypted, ${count(unreadable)} unreadable, ${count(helpers)} helper objects`
  );
}

function checkMemory(report: Report, what: string, { peak }: AuditRun): void {
  report.check(`${what}: resident memory stays below ${inMib(memoryBound)}`, peak < memoryBound, inMib(peak));
}

function tell(report: Report, what: string, { peak, seconds }: AuditRun, looked: number): void {
  const rate = Math.round(looked / seconds);
  report.say(
    `${what}: ${count(looked)} looked at in ${seconds.toFixed(0)} s (${count(rate)} a second), ${inMib(peak)} at most`,
  );
}

function reportOf({ report }: AuditRun): BucketReport {
  if (report === undefined) throw new Error('it gave no report');
  return report;
}

const count = (number: number) => number.toLocaleString('en');
const percent = (share: number) => `${(share * 100).toFixed(2)} %`;
