import type { Pod } from '../../../../../../src/cluster/kube/pod.ts';
import type { Kubernetes } from '../../../../../support/kubernetes.ts';
import { runCommand } from '../../../../../support/run-command.ts';
import { temporaryFolder } from '../../../../../support/temporary.ts';
import type { Stoppable } from '../../../../../support/types.ts';
import { requireTool } from '../../../../../testbed/ensure.ts';
import { startSandbox } from '../sandbox.ts';
import type { PodNetwork } from './contract.ts';
import { egressRules, type NetworkedPod } from './egress-rules.ts';

export interface NodeNetworkOptions {
  readonly kube: Kubernetes;
  /** Whether network policies count; without, nothing looks at them, as under a plugin that ignores them. */
  readonly enforces: boolean;
}

/** The network of one node: its pods reach each other and the Services that are named, and nothing else. */
export interface NodeNetwork extends PodNetwork, Stoppable {
  /** Translates the address and port of a Service to those of a pod. */
  publish(service: Endpoint, pod: Endpoint): Promise<void>;
}

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

const nodeAddress = '10.244.0.254';
/** On the node's end of every pod's link. */
const gateway = '169.254.1.1';

/**
 * A network namespace that stands for the node and forwards between its pods, each by a pair of virtual interfaces.
 * What a policy forbids is dropped there, by rules that are in place before a container runs.
 * @throws ToolUnavailable without iptables
 */
export async function startNodeNetwork({ kube, enforces }: NodeNetworkOptions): Promise<NodeNetwork> {
  const { bins } = await requireTool('iptables');
  const folder = temporaryFolder('node-network');
  const node = await startSandbox(folder.path, nodeAddress, []);
  const onNode = (...command: readonly string[]) => inNetworkOf(node.pid, command);
  const iptables = (...args: readonly string[]) => onNode(bins['iptables'] as string, '--wait', ...args);
  await onNode('sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward');
  const known: NetworkedPod[] = [];
  return {
    async attach(pod, holder) {
      const networked = await networkedPod(kube, pod);
      known.push(networked);
      if (enforces) await isolate(iptables, networked, await policiesOf(kube, pod), known);
      await link(onNode, holder, networked.address, `pod${known.length}`);
    },
    async publish(service, pod) {
      const to = ['-p', 'tcp', '-d', service.address, '--dport', String(service.port)];
      const instead = ['-j', 'DNAT', '--to-destination', `${pod.address}:${pod.port}`];
      await iptables('-t', 'nat', '-A', 'PREROUTING', ...to, ...instead);
    },
    async stop() {
      await node.stop();
      await folder.remove();
    },
  };
}

type Run = (...command: readonly string[]) => Promise<void>;

async function inNetworkOf(pid: number, command: readonly string[]): Promise<void> {
  const { status, stderr } = await runCommand('nsenter', [`--net=/proc/${pid}/ns/net`, ...command], '/');
  if (status !== 0) throw new Error(`${command.join(' ')}: ${stderr}`);
}

async function networkedPod(kube: Kubernetes, pod: Pod): Promise<NetworkedPod> {
  const { metadata } = await kube.must('GET', `/api/v1/namespaces/${pod.metadata.namespace}`);
  return { pod, address: pod.status?.podIP ?? '', namespaceLabels: metadata.labels };
}

async function policiesOf(kube: Kubernetes, { metadata }: Pod): Promise<readonly object[]> {
  const path = `/apis/networking.k8s.io/v1/namespaces/${metadata.namespace}/networkpolicies`;
  return (await kube.must('GET', path)).items;
}

/** What is answered belongs to a connection that somebody else was allowed to make. */
async function isolate(
  iptables: Run,
  of: NetworkedPod,
  policies: readonly object[],
  all: readonly NetworkedPod[],
): Promise<void> {
  const rules = egressRules(of, policies, all);
  if (rules === undefined) return;
  const append = (match: readonly string[], verdict: string) =>
    iptables('-A', 'FORWARD', '-s', of.address, ...match, '-j', verdict);
  await append(['-m', 'conntrack', '--ctstate', 'ESTABLISHED,RELATED'], 'ACCEPT');
  for (const rule of rules) await append(rule, 'ACCEPT');
  await append([], 'DROP');
}

/** The pod has its address on loopback already. */
async function link(onNode: Run, holder: number, address: string, name: string): Promise<void> {
  await onNode('ip', 'link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(holder));
  await onNode('ip', 'address', 'add', `${gateway}/32`, 'dev', name);
  await onNode('ip', 'link', 'set', name, 'up');
  await onNode('ip', 'route', 'add', `${address}/32`, 'dev', name);
  const inPod = (...args: readonly string[]) => inNetworkOf(holder, ['ip', ...args]);
  await inPod('link', 'set', 'eth0', 'up');
  await inPod('route', 'add', gateway, 'dev', 'eth0', 'src', address);
  await inPod('route', 'add', 'default', 'via', gateway, 'dev', 'eth0', 'src', address);
}
