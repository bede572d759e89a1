import type { KubeObject } from '../../../cluster/kube/client.ts';
import { isAtLeast } from '../../../cluster/kube/server-version.ts';
import { counted } from '../../../runtime/units.ts';
import {
  type Check,
  type CheckFailure,
  failed,
  NotEvaluated,
  notEvaluated,
  passed,
  shared,
  skipped,
  verdict,
  verdictOnPart,
} from '../check.ts';
import { protectedPodsOf } from '../cluster/pods.ts';
import { capped, listObjects, serverVersionOf } from '../cluster/read.ts';
import { clusterCheck } from '../make-check.ts';

const serverVersion = clusterCheck('SVC-CLUSTER-001', 'error', {
  title: 'The API server runs Kubernetes 1.28 or later',
  cause:
    'Before 1.28 webhooks have no match conditions: the webhook would be asked about every pod, or about none.',
  fix: 'Upgrade the cluster.',
  async run(context) {
    const version = await serverVersionOf(context);
    if (version === undefined) return notEvaluated('The API server does not report its version');
    const text = `${version.major}.${version.minor}`;
    if (isAtLeast(version, 1, 28)) return passed(text);
    return failed({ subject: 'API server', message: `It runs Kubernetes ${text}.` });
  },
});

const nodeKernels = clusterCheck('SVC-CLUSTER-002', 'error', {
  title: 'Every Linux node has kernel 5.15 or later',
  cause:
    'memfd_secret, which keeps secrets out of reach of root, exists since Linux 5.14; svc is tested and supported from 5.15 on.',
  fix: 'Upgrade the image of the node pool, or keep protected pods off these nodes.',
  async run(context) {
    const nodes = (await nodesOf(context)).filter(({ os }) => os === 'linux');
    if (nodes.length === 0) return skipped('There are no Linux nodes');
    const silent = nodes.filter(({ kernel }) => kernelVersion(kernel) === undefined);
    const failures = capped(nodes.flatMap(failuresOf));
    if (silent.length === 0) return verdict(failures, counted(nodes.length, 'node'));
    const reason = `These nodes do not report a kernel: ${listed(silent)}`;
    return verdictOnPart(failures, reason);
  },
});

function failuresOf({ name, kernel }: SeenNode): readonly CheckFailure[] {
  const version = kernelVersion(kernel);
  if (version === undefined || isAtLeast(version, 5, 15)) return [];
  const old = !isAtLeast(version, 5, 14);
  const message = `Its kernel is ${kernel}, ${old ? 'which has no memfd_secret' : 'older than 5.15, which is supported'}.`;
  return [{ subject: name, message, level: old ? 'error' : 'warning' }];
}

function listed(nodes: readonly SeenNode[]): string {
  const names = nodes.slice(0, 10).map(({ name }) => name);
  return nodes.length > 10 ? `${names.join(', ')} and ${nodes.length - 10} more` : names.join(', ');
}

/** Version in a release such as `5.15.0-1044-aks`; undefined if the release does not begin with two numbers. */
export function kernelVersion(release: string): { major: number; minor: number } | undefined {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(release) ?? [];
  return major === undefined ? undefined : { major: Number(major), minor: Number(minor) };
}

const supported = ['linux/amd64', 'linux/arm64'];

const nodeArchitectures = clusterCheck('SVC-CLUSTER-004', 'info', {
  timeoutMs: 60_000,
  title: 'Wrapper and agent support every node (Linux on amd64 or arm64)',
  cause:
    'Some nodes have another operating system or processor. It is an error if a protected pod runs there.',
  fix: 'Keep protected pods off these nodes by a node selector: kubernetes.io/os and kubernetes.io/arch.',
  async run(context) {
    const [nodes, { labelled }] = await Promise.all([nodesOf(context), protectedPodsOf(context)]);
    const used = new Set(labelled.map(({ node }) => node));
    const failures = nodes
      .filter((node) => unsupportedKind(node) === undefined)
      .map((node) => ({ ...node, platform: `${node.os}/${node.architecture || 'unknown'}` }))
      .filter(({ platform }) => !supported.includes(platform))
      .map(({ name, platform }) => {
        const level = used.has(name) ? ('error' as const) : ('info' as const);
        return { subject: name, message: `It is ${platform}.`, level };
      });
    return verdict(capped(failures));
  },
});

const reasons: Readonly<Record<Unsupported, string>> = {
  Autopilot: 'It is of an Autopilot cluster, which admits no privileged agent.',
  Fargate: 'It is a Fargate node, on which no DaemonSet runs.',
  virtual: 'It is a virtual node, which has no kernel that an agent could guard.',
};

const nodeTypes = clusterCheck('SVC-CLUSTER-003', 'warning', {
  timeoutMs: 60_000,
  title: 'No node is of an unsupported type (Autopilot, Fargate, virtual)',
  cause:
    'The provider permits no privileged DaemonSet on these nodes, so nothing prevents other processes from reading the memory of a protected pod. It is an error if a protected pod runs there, and on Autopilot.',
  fix: 'Run protected workloads on ordinary node pools: use a node selector or a taint, on GKE a Standard cluster.',
  async run(context) {
    const [nodes, { labelled }] = await Promise.all([nodesOf(context), protectedPodsOf(context)]);
    const used = Map.groupBy(labelled, ({ node }) => node);
    const failures = nodes.flatMap((node) => {
      const kind = unsupportedKind(node);
      if (kind === undefined) return [];
      const [pod] = used.get(node.name) ?? [];
      const runs = pod === undefined ? '' : ` The protected pod ${pod.key} runs there.`;
      const level = pod !== undefined || kind === 'Autopilot' ? 'error' : 'warning';
      return [{ subject: node.name, message: reasons[kind] + runs, level } as const];
    });
    return verdict(capped(failures));
  },
});

/** Kinds of nodes on which no agent can run, recognized by the provider's labels. */
type Unsupported = 'Autopilot' | 'Fargate' | 'virtual';

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
    // node names of Autopilot clusters begin with gk3-, of the provider's other clusters with gke-
    (name.startsWith('gk3-') && Object.keys(labels).some((key) => key.startsWith('cloud.google.com/')));
  return isAutopilot ? 'Autopilot' : undefined;
}

/** Whether protected pods may run on the node, so that it needs an agent. */
export const needsAgent = (node: SeenNode): boolean =>
  node.os === 'linux' && unsupportedKind(node) === undefined;

/** The part of a node that is kept. */
interface SeenNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** As reported by the kubelet, such as `6.1.0-28-amd64`; empty if not reported. */
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

/** Sorted by name. @throws NotEvaluated, also if there are no nodes */
export const nodesOf = shared(async (context): Promise<readonly SeenNode[]> => {
  const found = (await listObjects(context, { path: '/api/v1/nodes', keep: seen })) ?? [];
  if (found.length === 0) throw new NotEvaluated('The cluster has no nodes');
  return found.toSorted((one, other) => (one.name < other.name ? -1 : 1));
});

function seen({ metadata, status }: NodeObject): SeenNode {
  const { kernelVersion = '', operatingSystem = '', architecture = '' } = status?.nodeInfo ?? {};
  const labels = metadata.labels ?? {};
  return {
    name: metadata.name,
    labels,
    kernel: kernelVersion,
    os: operatingSystem || (labels['kubernetes.io/os'] ?? 'linux'),
    architecture: architecture || (labels['kubernetes.io/arch'] ?? ''),
  };
}

export const clusterChecks: readonly Check[] = [serverVersion, nodeKernels, nodeTypes, nodeArchitectures];
