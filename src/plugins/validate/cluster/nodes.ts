import type { KubeObject } from '../../../runtime/kube/objects.ts';
import { NotEvaluated } from '../not-evaluated.ts';
import { shared } from '../shared.ts';
import { listObjects } from './read.ts';

/** What is kept of a node. */
export interface SeenNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** As the kubelet tells it, such as `6.1.0-28-amd64`; empty: not told. */
  readonly kernel: string;
  /** `linux` or `windows`. */
  readonly os: string;
  /** Such as `amd64`. */
  readonly architecture: string;
}

type NodeObject = KubeObject & {
  readonly status?: {
    readonly nodeInfo?: {
      readonly kernelVersion?: string;
      readonly operatingSystem?: string;
      readonly architecture?: string;
    };
  };
};

/** Sorted by name. @throws NotEvaluated, also where there is none */
export const nodesOf = shared(async (context): Promise<readonly SeenNode[]> => {
  const found = (await listObjects(context, { path: '/api/v1/nodes', keep: seen })) ?? [];
  if (found.length === 0) throw new NotEvaluated('The cluster has no nodes');
  return found.toSorted((one, other) => (one.name < other.name ? -1 : 1));
});

function seen({ metadata, status }: NodeObject): SeenNode {
  const { kernelVersion = '', operatingSystem = '', architecture = '' } = status?.nodeInfo ?? {};
  const labels = metadata.labels ?? {};
  return {
    ...{ name: metadata.name, labels, kernel: kernelVersion },
    os: operatingSystem || (labels['kubernetes.io/os'] ?? 'linux'),
    architecture: architecture || (labels['kubernetes.io/arch'] ?? ''),
  };
}
