import type { SeenNode } from './nodes.ts';

/** Nodes on which no agent can run, by what their providers label them with. */
export type Unsupported = 'Autopilot' | 'Fargate' | 'virtual';

export function unsupportedKind({
  name,
  labels,
}: Pick<SeenNode, 'name' | 'labels'>): Unsupported | undefined {
  const has = (key: string, value: string) => labels[key]?.toLowerCase() === value;
  if (has('eks.amazonaws.com/compute-type', 'fargate')) return 'Fargate';
  if (has('type', 'virtual-kubelet') || Object.hasOwn(labels, 'virtual-kubelet.io/provider'))
    return 'virtual';
  const isAutopilot =
    has('cloud.google.com/gke-provisioning', 'autopilot') ||
    has('cloud.google.com/gke-autopilot', 'true') ||
    // names of an Autopilot cluster's nodes begin so, those of other clusters of the provider with gke-
    (name.startsWith('gk3-') && Object.keys(labels).some((key) => key.startsWith('cloud.google.com/')));
  return isAutopilot ? 'Autopilot' : undefined;
}

/** Where protected pods may run: an agent belongs on each of them. */
export const needsAgent = (node: SeenNode): boolean =>
  node.os === 'linux' && unsupportedKind(node) === undefined;
