import { flagsIn } from './flags.ts';

/** A DaemonSet of the cluster, as far as it tells what enforces network policies. */
export interface SeenDaemonSet {
  readonly namespace: string;
  readonly name: string;
  /** Pods of it. */
  readonly ready: number;
  /** Names of its containers, and what they are started with. */
  readonly containers: readonly { readonly name: string; readonly args: readonly string[] }[];
  /** What stands in the ConfigMap that it takes its settings from; its arguments come before that. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

/** Why one does not enforce policies, as a sentence; undefined: it does. */
type Objection = (plugin: SeenDaemonSet) => string | undefined;

const none: Objection = () => undefined;
const passive: Objection = () => 'It does not enforce network policies.';

/** Enforces unless an argument or a setting such as `enable-policy=never` says otherwise. */
const unless =
  (...switches: readonly `${string}=${string}`[]): Objection =>
  ({ containers, settings = {} }) => {
    const set = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
    const given = flagsIn([...set, ...argsOf(containers)]);
    const off = switches.find((one) => given.has(one));
    return off && `It is told not to enforce network policies, by ${off}.`;
  };

/** Enforces by a container of its own, and where a switch is named, only with it. */
const onlyBy =
  (names: readonly string[], on?: `${string}=${string}`): Objection =>
  ({ containers }) => {
    const own = containers.filter(({ name }) => names.includes(name));
    if (own.length > 0 && (on === undefined || flagsIn(argsOf(own)).has(on))) return undefined;
    return `It does not enforce network policies without its container ${names[0]}${on ? ` with --${on}` : ''}.`;
  };

const ciliums = ['cilium', 'anetd'];

/** By the names that their own manifests give to their DaemonSets. */
const plugins: ReadonlyMap<string, Objection> = new Map([
  ...['calico-node', 'canal', 'rke2-canal', 'antrea-agent', 'ovnkube-node', 'kube-ovn-cni'].map(
    (name) => [name, none] as const,
  ),
  ...['azure-npm', 'kube-network-policies', 'nsx-node-agent'].map((name) => [name, none] as const),
  ...ciliums.map((name) => [name, unless('enable-policy=never', 'enable-k8s-networkpolicy=false')] as const),
  ['kube-router', unless('run-firewall=false')],
  ['weave-net', onlyBy(['weave-npc'])],
  ...['kube-flannel-ds', 'kube-flannel'].map((name) => [name, onlyBy(['kube-network-policies'])] as const),
  ['aws-node', onlyBy(['aws-eks-nodeagent', 'aws-network-policy-agent'], 'enable-network-policy=true')],
  ['azure-cns', passive],
]);

/** The ConfigMap, beside the DaemonSet, in which one says what it is not told by arguments; undefined: in none. */
export function settingsOf({ name }: SeenDaemonSet): string | undefined {
  return ciliums.includes(name) ? 'cilium-config' : undefined;
}

export type Enforcement = 'enforces' | 'ignores' | 'unknown';

/** Whether a plugin with this DaemonSet enforces network policies; unknown: it is none that is known. */
export function enforcementOf(plugin: SeenDaemonSet): Enforcement {
  if (!plugins.has(plugin.name)) return 'unknown';
  return objectionTo(plugin) === undefined ? 'enforces' : 'ignores';
}

/** Why a known one does not enforce policies, as a sentence. */
export function objectionTo(plugin: SeenDaemonSet): string | undefined {
  const objection = plugins.get(plugin.name)?.(plugin);
  return objection ?? (plugin.ready > 0 ? undefined : 'None of its pods is ready.');
}

const argsOf = (containers: SeenDaemonSet['containers']) => containers.flatMap(({ args }) => args);
