import { helm } from '../support/helm.ts';
import { startNodeCluster } from '../support/node/cluster.ts';
import { attacks } from './node/attacks.ts';
import type { NodeCheck } from './node/bed.ts';
import { agentTier, chartResources, installChart } from './node/install.ts';
import { uninstallChart } from './node/uninstall.ts';
import { validates } from './node/validate.ts';
import { dailyUse, setUpKeyServer, workloads } from './node/workloads.ts';
import type { Part } from './part.ts';

const CHECKS: Readonly<Record<string, NodeCheck>> = {
  ...{ installChart, agentTier, workloads, dailyUse, attacks, validates, chartResources, uninstallChart },
};

/** What the chart does on a node with systemd, containerd and a kubelet, from its installation to its end. */
export const node: Part = {
  name: 'node',
  summary: 'a whole node in an emulated machine: the chart as Helm installs it, pods under attack, its end',
  async run(report) {
    const cluster = await startNodeCluster(report.say);
    const tool = await helm();
    try {
      const bed = { ...cluster, helm: tool, kubeconfig: cluster.kube.kubeconfig() };
      await setUpKeyServer(bed);
      for (const [name, check] of Object.entries(CHECKS)) {
        report.say(`-- ${name}`);
        await check(bed, report);
      }
    } finally {
      await tool.remove();
      await cluster.stop();
    }
  },
};
