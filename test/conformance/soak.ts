import type { Part, PartOptions } from './part.ts';
import { checkAnswers, checkGrowth } from './soak/checks.ts';
import { SoakClient } from './soak/client.ts';
import { readAll, runLoad } from './soak/load.ts';
import { type Sample, sampleUntil } from './soak/samples.ts';
import { Tally } from './soak/tally.ts';
import { type RealBed, startRealBed } from './support/real-bed.ts';

const clients = 8;
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
  const callers = Array.from({ length: clients }, (_, number) => new SoakClient(number, seed, s3, tally));
  const loads = callers.map((caller) => runLoad(caller, { over }));
  const samples = await sampleUntil(proxy.pid, over);
  await Promise.all(loads);
  await Promise.all(callers.map(readAll));
  return samples;
}
