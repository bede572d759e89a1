import { isLabelled } from '../../../core/kubernetes/labels.ts';
import { sleep } from '../../../runtime/lifecycle/sleep.ts';
import type { ScoreDeps } from './deps.ts';

const pollMs = 500;

/** Resolves once the agents of all nodes with protected pods have told, this replica leads no longer, or after a while. */
export async function agentsTold(deps: ScoreDeps, longestMs: number): Promise<void> {
  const { leadership, signal } = deps;
  const end = performance.now() + longestMs;
  while (leadership.leading && !signal.aborted && performance.now() < end && !allTold(deps)) {
    await sleep(pollMs, signal).catch(() => {});
  }
}

function allTold({ cluster, nodes }: ScoreDeps): boolean {
  for (const { pod } of cluster.pods.values()) {
    const { nodeName } = pod.spec;
    if (nodeName === undefined || !isLabelled(pod.metadata.labels)) continue;
    if (nodes.agentOf(nodeName) === undefined) return false;
  }
  return true;
}
