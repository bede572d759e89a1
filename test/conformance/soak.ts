import type { Part } from './part.ts';
import { checkAnswers, checkGrowth } from './soak/checks.ts';
import { runClients } from './soak/run-clients.ts';
import { Tally } from './soak/tally.ts';
import { startRealBed } from './support/real-bed.ts';

const clients = 8;

/** A mixed load whose every answer is compared with what was written, and whether the proxy grows under it. */
export const soak: Part = {
  name: 'soak',
  summary: 'a mixed load of 8 clients for some minutes: contents, errors, memory, file descriptors',
  async run(report, options) {
    const bed = await startRealBed();
    try {
      const tally = new Tally();
      const samples = await runClients(options, {
        s3: bed.s3,
        pid: bed.proxy.pid,
        clients,
        tally,
        say: report.say,
      });
      checkAnswers(report, tally);
      checkGrowth(report, samples, bed.proxy.rss().peak);
    } finally {
      await bed.stop();
    }
  },
};
