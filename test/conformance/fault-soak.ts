import { createMemoryCgroup } from '../support/limit-cgroup.ts';
import { startRig } from '../support/rig.ts';
import type { Part } from './part.ts';
import { checkAnswers, checkGrowth } from './soak/checks.ts';
import { Disturber } from './soak/disturbances.ts';
import { runClients } from './soak/run-clients.ts';
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
  async run(report, options) {
    const [rig, cgroup] = [await startRig(), createMemoryCgroup(containerBytes)];
    try {
      await rig.store.createBucket(Bucket);
      // the usual one ends after an hour, and its policy does not let the proxy renew it
      const vault = { addr: rig.toVault.url, token: await rig.bao.policyToken({ ttl: '30h' }) };
      const { s3, pid, rss } = await rig.proxy({ under: cgroup.under, vault });
      const [tally, disturber] = [new Tally(), new Disturber(rig, options.seed)];
      const { mayFail } = disturber;
      const beside = (over: () => boolean) => disturber.run(over);
      const { say } = report;
      const samples = await runClients(options, { s3, pid, clients, tally, say, pauseMs, mayFail, beside });
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
