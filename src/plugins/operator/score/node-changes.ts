import type { ScoreDeps } from './deps.ts';

/** Calls with each namespace that has a pod on a node of which another thing is known; many changes cost one look. */
export function onNodeChanges(deps: ScoreDeps, gatherMs: number, handle: (namespace: string) => void): void {
  const { nodes, cluster, signal } = deps;
  const changed = new Set<string>();
  const look = () => {
    const namespaces = new Set<string>();
    for (const { namespace, pod } of cluster.pods.values()) {
      if (changed.has(pod.spec.nodeName ?? '')) namespaces.add(namespace);
    }
    changed.clear();
    for (const namespace of namespaces) handle(namespace);
  };
  nodes.onChange((node) => {
    if (signal.aborted) return;
    if (changed.size === 0) setTimeout(look, gatherMs).unref();
    changed.add(node);
  });
}
