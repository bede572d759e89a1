import { createMemoryCgroup } from '../support/memory-cgroup.ts';
import { startRig } from '../support/rig.ts';
import type { Part } from './part.ts';
import { checkAnswers, checkGrowth } from './soak/checks.ts';
import { SoakClient } from './soak/client.ts';
import { Disturber } from './soak/disturbances.ts';
import { readAll, runLoad } from './soak/load.ts';
import { sampleUntil } from './soak/samples.ts';
import { Tally } from './soak/tally.ts';
import { Bucket } from './support/real-bed.ts';

const clients = 6;
/** Leaves half of two processors to what else runs there. */
const pauseMs = 150;
const containerBytes = 128 * 1024 ** 2;

/** A mixed load while key server and store break again and again: what was written can be read, and memory has no trend. */
export const faultSoak: Part = {
  name: 'fault-soak',
  summary: 'a mixed load while key server and store break in turns: contents, recovery, memory in 128 MiB',
  async run(report, { minutes, seed }) {
    const [rig, cgroup] = [await startRig(), createMemoryCgroup(containerBytes)];
    try {
      await rig.store.createBucket(Bucket);
      const { s3, pid, rss } = await rig.proxy({ under: cgroup.under });
      const [tally, disturber] = [new Tally(), new Disturber(rig, seed)];
      const end = performance.now() + minutes * 60_000;
      const options = { over: () => performance.now() >= end, pauseMs, mayFail: disturber.mayFail };
      const callers = Array.from({ length: clients }, (_, number) => new SoakClient(number, seed, s3, tally));
      const loads = callers.map((caller) => runLoad(caller, options));
      const disturbed = disturber.run(options.over);
      const samples = await sampleUntil(pid, options.over);
      await Promise.all([...loads, disturbed]);
      await Promise.all(callers.map(readAll));
      report.say([...disturber.done].map(([name, count]) => `${name} ${count}`).join(', '));
      report.say(`latest failure ${disturber.latestMs.toFixed(0)} ms after the end of a disturbance`);
      report.say(`${tally.disturbed} requests failed while something was broken`);
      checkAnswers(report, tally);
      checkGrowth(report, samples, rss().peak);
      report.check('no process was killed for want of memory', cgroup.killed() === 0, `${cgroup.killed()}`);
    } finally {
      await rig.stop();
      await cgroup.remove();
    }
  },
};
