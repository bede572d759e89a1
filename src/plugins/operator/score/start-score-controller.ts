import { type Controller, runController } from '../controllers/run-controller.ts';
import { agentsTold } from './agents-told.ts';
import { type ScoreDeps, usualTiming } from './deps.ts';
import { onNodeChanges } from './node-changes.ts';
import { nodeReports } from './node-reports.ts';
import { reportStatus } from './report-status.ts';
import { createReportStore } from './report-store.ts';
import { createScoreGauge } from './score-gauge.ts';
import { scoreNamespace } from './score-namespace.ts';
import { templatesOf } from './templates.ts';

/** Keeps the ProtectionReport of each namespace and, while this replica leads, shows the scores of its workloads. */
export function startScoreController(deps: ScoreDeps): Controller {
  const { client, cluster, leadership, log, metrics, signal } = deps;
  const timing = { ...usualTiming, ...deps.timing };
  const templates = templatesOf(cluster.workloads);
  const gauge = createScoreGauge(metrics);
  const store = createReportStore(client, timing.trust);
  const forget = leadership.onChange((leading) => {
    if (leading) return;
    gauge.clear();
    store.forgetAll();
  });
  signal.addEventListener('abort', forget, { once: true });
  const controller = runController({
    name: 'protection-report',
    ...{ leadership, metrics, log, signal, settleMs: timing.settle, resyncMs: timing.resync },
    async whenReady() {
      await cluster.whenSynced();
      await agentsTold(deps, timing.agents);
    },
    *keys() {
      for (const { name } of cluster.namespaces.values()) yield name;
    },
    async reconcile(namespace, term) {
      const scores = scoreNamespace(deps, templates, namespace);
      gauge.show(namespace, scores);
      // with a namespace goes its report
      if (cluster.namespaces.get(namespace)?.terminating !== false) store.forget(namespace);
      else if (scores.length === 0) await store.keep(namespace, undefined, term);
      else await store.keep(namespace, reportStatus(scores, nodeReports(deps, namespace)), term);
      return undefined;
    },
  });
  follow(deps, timing.nodes, (namespace) => controller.enqueue(namespace));
  return controller;
}

/** Egress policies are looked at with every round. */
function follow(deps: ScoreDeps, nodesMs: number, enqueue: (namespace: string) => void): void {
  const { pods, workloads, serviceConfigs, namespaces } = deps.cluster;
  pods.onChange(({ namespace }) => enqueue(namespace));
  workloads.onChange(({ namespace }) => enqueue(namespace));
  serviceConfigs.onChange(({ namespace }) => enqueue(namespace));
  namespaces.onChange(({ name }) => enqueue(name));
  onNodeChanges(deps, nodesMs, enqueue);
}
