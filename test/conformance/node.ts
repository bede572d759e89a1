import { helm } from '../support/helm.ts';
import { startNodeCluster } from '../support/node/cluster.ts';
import type { NodeBed } from './node/bed.ts';
import { CHECKS } from './node/checks.ts';
import { type RunChecks, runKept } from './node/kept.ts';
import { setUpKeyServer } from './node/workloads.ts';
import type { Part, Report } from './part.ts';

/** What the chart does on a node with systemd, containerd and a kubelet, from its installation to its end. */
export const node: Part = {
  name: 'node',
  summary: 'a whole node in an emulated machine: the chart as Helm installs it, pods under attack, its end',
  async run(report, { only = Object.keys(CHECKS), keep }) {
    namedChecks(only, CHECKS);
    const cluster = await startNodeCluster(report.say);
    const tool = await helm();
    try {
      const bed = { ...cluster, helm: tool, kubeconfig: cluster.kube.kubeconfig() };
      await setUpKeyServer(bed);
      const run = runChecks(bed, report);
      await run(only, CHECKS);
      if (keep) await runKept(bed, report, run);
    } finally {
      await tool.remove();
      await cluster.stop();
    }
  },
};

type Checks = Parameters<RunChecks>[1];

/** @throws Error naming the first that there is not, and those that there are */
function namedChecks(names: readonly string[], checks: Checks) {
  return names.map((name) => {
    const check = checks[name];
    if (!check) throw new Error(`There is no check named ${name}: ${Object.keys(checks).join(', ')}`);
    return [name, check] as const;
  });
}

/** One after the other, whatever becomes of each; without the chart there is nothing to check. */
const runChecks =
  (bed: NodeBed, report: Report): RunChecks =>
  async (names, checks) => {
    for (const [name, check] of namedChecks(names, checks)) {
      const begun = performance.now();
      report.say(`-- ${name}`);
      try {
        await check(bed, report);
      } catch (error) {
        report.check(`${name} comes to its end`, false, `${error}`);
        if (name === 'installChart') throw error;
      }
      report.say(`${name} took ${((performance.now() - begun) / 1000).toFixed(0)} s`);
    }
  };
