import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { performance } from 'node:perf_hooks';
import { mixBytes, prepareMix, runMix } from './large-object/mix.ts';
import { readLarge, removeLarge, totalBytes, uploadLarge } from './large-object/whole-life.ts';
import type { Part, Report } from './part.ts';
import { inMib, residentBound } from './support/figures.ts';
import { type RealBed, startRealBed } from './support/real-bed.ts';

/** The parts and the object made of them may be on the disk at the same time. Bytes. */
const neededOnDisk = 2.5 * totalBytes;

/** One object of 5 GiB in parts of 64 MiB, and 64 MiB objects eight at a time, with the proxy's peak memory. */
export const largeObject: Part = {
  name: 'large-object',
  summary: 'one object of 5 GiB, and a mix of 8 × 64 MiB, each with the peak resident memory of the proxy',
  async run(report) {
    requireDisk();
    const bed = await startRealBed();
    try {
      await checkLarge(report, bed);
      await checkMix(report, bed);
    } finally {
      await bed.stop();
    }
  },
};

function requireDisk(): void {
  const { bavail, bsize } = statfsSync(tmpdir());
  if (bavail * bsize >= neededOnDisk) return;
  throw new Error(
    `${tmpdir()} has ${inMib(bavail * bsize)} free and ${inMib(neededOnDisk)} are needed.\n` +
      'Next: make room, or set TMPDIR to a folder that has it.',
  );
}

async function checkLarge(report: Report, { s3, proxy }: RealBed): Promise<void> {
  const sent = await timed(report, 'upload of 5 GiB', totalBytes, () => uploadLarge(s3));
  checkMemory(report, 'the upload', proxy);
  const { sha256, bytes } = await timed(report, 'read of 5 GiB', totalBytes, () => readLarge(s3));
  report.check(
    '5 GiB read back as they were written',
    sha256 === sent && bytes === totalBytes,
    `SHA-256 ${sha256}`,
  );
  checkMemory(report, 'the upload and the read', proxy);
  await removeLarge(s3);
}

/** The proxy that made the objects is not the one that is measured. */
async function checkMix(report: Report, bed: RealBed): Promise<void> {
  await prepareMix(bed.s3);
  await bed.restart();
  const { reads, right } = await timed(report, 'mix of 8 × 64 MiB', mixBytes, () => runMix(bed.s3));
  report.check('every read of the mix gives what was written', right === reads, `${right} of ${reads}`);
  checkMemory(report, 'the mix', bed.proxy);
}

async function timed<T>(report: Report, what: string, bytes: number, work: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await work();
  const seconds = (performance.now() - begun) / 1000;
  report.say(`${what}: ${seconds.toFixed(1)} s, ${inMib(bytes / seconds)}/s`);
  return result;
}

function checkMemory(report: Report, what: string, { rss }: RealBed['proxy']): void {
  const { peak } = rss();
  const claim = `${what}: the proxy stays within ${inMib(residentBound)} of resident memory`;
  report.check(claim, peak <= residentBound, `peak ${inMib(peak)}`);
}
