import type { Pod } from '../../../../../../src/cluster/kube/pod.ts';

type Labels = Readonly<Record<string, string>>;

/** A pod as policies meet it. */
export interface NetworkedPod {
  readonly pod: Pod;
  readonly address: string;
  readonly namespaceLabels: Labels;
}

interface Place {
  readonly cidr: string;
  /** That has the address, where one is selected. */
  readonly pod?: Pod;
}

// biome-ignore lint/suspicious/noExplicitAny: policies are read as the API has them
type Any = any;

/**
 * What network policies of its namespace let a pod connect to, as the documentation of Kubernetes has it: matches of
 * iptables, one connection each. Undefined: none isolates it. Addresses of IPv6 are left out.
 * @throws Error for what is not understood
 */
export function egressRules(
  of: NetworkedPod,
  policies: readonly Any[],
  all: readonly NetworkedPod[],
): string[][] | undefined {
  const isolating = policies.filter(
    ({ spec }) => isOfEgress(spec) && matches(spec.podSelector, of.pod.metadata.labels),
  );
  if (isolating.length === 0) return undefined;
  const rules = isolating.flatMap(({ spec }): Any[] => spec.egress ?? []);
  return rules.flatMap(({ to, ports }) =>
    placesOf(to, of, all).flatMap((place) =>
      portsOf(ports, place).map((match) => ['-d', place.cidr, ...match]),
    ),
  );
}

function isOfEgress({ policyTypes, egress }: Any): boolean {
  return policyTypes === undefined ? egress !== undefined : policyTypes.includes('Egress');
}

function placesOf(to: readonly Any[] = [], of: NetworkedPod, all: readonly NetworkedPod[]): Place[] {
  if (to.length === 0) return [{ cidr: '0.0.0.0/0' }];
  return to.flatMap((peer): Place[] => {
    if (peer.ipBlock) return blockOf(peer.ipBlock);
    return all
      .filter((other) => isPeer(peer, of, other))
      .map(({ pod, address }) => ({ cidr: `${address}/32`, pod }));
  });
}

function blockOf({ cidr, except = [] }: Any): Place[] {
  if (except.length > 0) throw new Error('this network does not know exceptions of blocks');
  return cidr.includes(':') ? [] : [{ cidr }];
}

function isPeer({ namespaceSelector, podSelector }: Any, of: NetworkedPod, other: NetworkedPod): boolean {
  const near = namespaceSelector
    ? matches(namespaceSelector, other.namespaceLabels)
    : other.pod.metadata.namespace === of.pod.metadata.namespace;
  return near && matches(podSelector ?? {}, other.pod.metadata.labels);
}

function matches({ matchLabels = {}, matchExpressions = [] }: Any, labels: Labels = {}): boolean {
  if (matchExpressions.length > 0) throw new Error('this network does not know expressions of selectors');
  return Object.entries(matchLabels).every(([name, value]) => labels[name] === value);
}

function portsOf(ports: readonly Any[] = [], place: Place): string[][] {
  if (ports.length === 0) return [[]];
  return ports.flatMap(({ protocol = 'TCP', port, endPort }) => {
    const match = ['-p', protocol.toLowerCase()];
    if (port === undefined) return [match];
    return numbersOf(port, protocol, place).map((first) => [
      ...match,
      '--dport',
      `${first}:${endPort ?? first}`,
    ]);
  });
}

/** A name is that of a port of a container. */
function numbersOf(port: number | string, protocol: string, { pod }: Place): number[] {
  if (typeof port === 'number') return [port];
  const named = pod?.spec.containers.flatMap(({ ports = [] }) => ports) ?? [];
  return named
    .filter((one) => one.name === port && (one.protocol ?? 'TCP') === protocol)
    .map(({ containerPort }) => containerPort);
}
