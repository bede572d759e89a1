import type { KubeObject } from '../../../../cluster/kube/client.ts';
import { type CheckContext, failed, passed } from '../../check.ts';
import { getObject, listObjects } from '../../cluster/read.ts';
import { clusterCheck } from '../../make-check.ts';

export const plugin = clusterCheck('SVC-EGRESS-003', 'error', {
  title: 'A network plugin that enforces network policies runs',
  cause:
    'The API server accepts policies whether or not anything enforces them. Flannel and the plugin of Amazon enforce them only if that is enabled; in others it can be disabled by arguments of the DaemonSet or, for Cilium, in its ConfigMap. Both are checked. An unknown plugin is a warning.',
  fix: 'Install or enable one that enforces them, such as Cilium or Calico; --probe-pods measures whether it does.',
  async run(context) {
    const all = (await listObjects(context, { path: '/apis/apps/v1/daemonsets', keep: seen })) ?? [];
    const plugins = await Promise.all(all.map((one) => withSettings(context, one)));
    const { enforces = [], ignores = [] } = Object.groupBy(plugins, enforcementOf);
    if (enforces.length > 0) return passed(enforces.map(keyOf).join(', '));
    if (ignores.length > 0) return failed(...ignores.map(failureOf));
    const message =
      'No network plugin that is known here runs, so that nobody can tell whether policies are enforced.';
    return failed({ subject: 'cluster', message, level: 'warning' });
  },
});

const keyOf = ({ namespace, name }: SeenDaemonSet) => `${namespace}/${name}`;
const failureOf = (one: SeenDaemonSet) => ({ subject: keyOf(one), message: objectionTo(one) ?? '' });

async function withSettings(context: CheckContext, one: SeenDaemonSet): Promise<SeenDaemonSet> {
  const name = settingsOf(one);
  if (name === undefined) return one;
  const path = `/api/v1/namespaces/${one.namespace}/configmaps/${name}`;
  const found = await getObject<{ readonly data?: Readonly<Record<string, string>> }>(context, path);
  return { ...one, settings: found?.data };
}

type DaemonSetObject = KubeObject & {
  readonly spec?: {
    readonly template?: {
      readonly spec?: { readonly containers?: readonly StartedContainer[] };
    };
  };
  readonly status?: { readonly numberReady?: number };
};

interface StartedContainer {
  readonly name: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
}

function seen({ metadata, spec, status }: DaemonSetObject): SeenDaemonSet {
  const containers = spec?.template?.spec?.containers ?? [];
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    ready: status?.numberReady ?? 0,
    containers: containers.map(({ name, command = [], args = [] }) => ({
      name,
      args: [...command, ...args],
    })),
  };
}

/** A DaemonSet, as far as it shows what enforces network policies. */
interface SeenDaemonSet {
  readonly namespace: string;
  readonly name: string;
  /** Number of ready pods. */
  readonly ready: number;
  /** Names and arguments of its containers. */
  readonly containers: readonly { readonly name: string; readonly args: readonly string[] }[];
  /** Data of the ConfigMap with its settings; arguments take precedence. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

/** Why a plugin does not enforce policies, as a sentence; undefined if it does. */
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
    return off && `It is configured not to enforce network policies, by ${off}.`;
  };

/** Enforces only with one of these containers and, if a switch is given, only with that switch. */
const onlyBy =
  (names: readonly string[], on?: `${string}=${string}`): Objection =>
  ({ containers }) => {
    const own = containers.filter(({ name }) => names.includes(name));
    if (own.length > 0 && (on === undefined || flagsIn(argsOf(own)).has(on))) return undefined;
    return `It does not enforce network policies without its container ${names[0]}${on ? ` with --${on}` : ''}.`;
  };

const ciliums = ['cilium', 'anetd'];

/** The word after a flag is its value, unless it is another flag or missing. */
const valueBehind = (next = '-') => (next.startsWith('-') ? 'true' : next);

const usual: ReadonlyMap<string, string> = new Map([
  ...['1', 't', 'true'].map((text) => [text, 'true'] as const),
  ...['0', 'f', 'false'].map((text) => [text, 'false'] as const),
]);

const argsOf = (containers: SeenDaemonSet['containers']) => containers.flatMap(({ args }) => args);

/** Known plugins, by the DaemonSet names in their own manifests. */
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

/** Name of the ConfigMap, in the DaemonSet's namespace, with settings beside the arguments; undefined if none. */
function settingsOf({ name }: SeenDaemonSet): string | undefined {
  return ciliums.includes(name) ? 'cilium-config' : undefined;
}

export type Enforcement = 'enforces' | 'ignores' | 'unknown';

/** Whether this DaemonSet's plugin enforces network policies; `unknown` if the DaemonSet is not a known plugin. */
export function enforcementOf(plugin: SeenDaemonSet): Enforcement {
  if (!plugins.has(plugin.name)) return 'unknown';
  return objectionTo(plugin) === undefined ? 'enforces' : 'ignores';
}

/** Why a known plugin does not enforce policies, as a sentence; undefined if it does. */
export function objectionTo(plugin: SeenDaemonSet): string | undefined {
  const objection = plugins.get(plugin.name)?.(plugin);
  return objection ?? (plugin.ready > 0 ? undefined : 'None of its pods is ready.');
}

/**
 * Flags as `name=value`, the last one of each name, from words of a command line or whole shell lines. A switch has the
 * value `true` or `false`, in whatever form it was written.
 */
function flagsIn(args: readonly string[]): ReadonlySet<string> {
  const words = args.flatMap((arg) => arg.trim().split(/\s+/));
  const flags = new Map<string, string>();
  words.forEach((word, index) => {
    const [, name, value] = /^--([\w-]+)(?:=["']?([^"']*))?/.exec(word) ?? [];
    if (name !== undefined) flags.set(name, value ?? valueBehind(words[index + 1]));
  });
  return new Set([...flags].map(([name, value]) => `${name}=${usual.get(value.toLowerCase()) ?? value}`));
}
