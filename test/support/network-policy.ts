import { isIPv6 } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import ipaddr from 'ipaddr.js';

/** A pod as a connection meets it. */
export interface PolicyPod {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ips: readonly string[];
  /** By name and protocol, as `web/TCP`. */
  readonly named: Readonly<Record<string, number>>;
}

export interface Connection {
  readonly from: PolicyPod;
  /** The pod that has the address, if one has. */
  readonly to: PolicyPod | undefined;
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

// biome-ignore lint/suspicious/noExplicitAny: policies are read as the API has them
type Any = any;

/** What Kubernetes says of network policies, written down from its documentation and from nothing of ours. */
export function mayConnect(policies: readonly Any[], connection: Connection): boolean {
  const { from } = connection;
  const isolating = policies.filter(
    ({ metadata, spec }) =>
      metadata.namespace === from.namespace &&
      selectsLabels(spec.podSelector, from.labels) &&
      (spec.policyTypes ?? (spec.egress ? ['Ingress', 'Egress'] : ['Ingress'])).includes('Egress'),
  );
  if (isolating.length === 0) return true;
  return isolating.some(({ metadata, spec }) =>
    (spec.egress ?? []).some(
      (rule: Any) =>
        (!rule.to?.length || rule.to.some((peer: Any) => meets(peer, metadata.namespace, connection))) &&
        (!rule.ports?.length || rule.ports.some((port: Any) => opens(port, connection))),
    ),
  );
}

function meets(peer: Any, namespace: string, { to, ip }: Connection): boolean {
  if (peer.ipBlock) {
    const { cidr, except = [] } = peer.ipBlock;
    return inBlock(cidr, ip) && !except.some((each: string) => inBlock(each, ip));
  }
  if (to === undefined) return false;
  const inNamespace = peer.namespaceSelector
    ? selectsLabels(peer.namespaceSelector, { 'kubernetes.io/metadata.name': to.namespace })
    : to.namespace === namespace;
  return inNamespace && selectsLabels(peer.podSelector ?? {}, to.labels);
}

function opens(rule: Any, { to, protocol, port }: Connection): boolean {
  if ((rule.protocol ?? 'TCP') !== protocol) return false;
  if (rule.port === undefined) return true;
  const first = typeof rule.port === 'number' ? rule.port : to?.named[`${rule.port}/${protocol}`];
  return first !== undefined && port >= first && port <= (rule.endPort ?? first);
}

function inBlock(cidr: string, ip: string): boolean {
  const [net = '', prefix = ''] = cidr.split('/');
  if (isIPv6(net) !== isIPv6(ip)) return false;
  const length = Number(prefix);
  return bitsOf(net).slice(0, length) === bitsOf(ip).slice(0, length);
}

const bits = new Map<string, string>();

/** An address as its 32 or 128 bits: policies name the same few again and again. */
function bitsOf(ip: string): string {
  const known = bits.get(ip);
  if (known !== undefined) return known;
  const text = ipaddr
    .parse(ip)
    .toByteArray()
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  bits.set(ip, text);
  return text;
}

function selectsLabels(
  { matchLabels = {}, matchExpressions = [] }: Any,
  labels: Record<string, string>,
): boolean {
  if (matchExpressions.length > 0) throw new Error('not needed here');
  return isDeepStrictEqual({ ...labels, ...matchLabels }, { ...labels });
}
