import { type LabelSelector, selects } from '../kube/labels.ts';
import { type Block, coverOf, parseBlock } from './address.ts';
import { type EgressRule, type NetworkPolicy, namespaceName, type Peer } from './contract.ts';
import { byText } from './grants.ts';

type Labels = Readonly<Record<string, string>>;

export interface WideningQuestion {
  /** Our policies, meant to be complete. */
  readonly ours: readonly NetworkPolicy[];
  /** All other policies of the namespace; as policies add up, they can only widen ours. */
  readonly others: readonly ObservedPolicy[];
  /** Labels of the namespace's protected pods. */
  readonly pods: readonly Labels[];
}

/**
 * Sorted names of policies that let some pods reach more than ours do. A rule that cannot be compared with ours counts
 * as wider.
 */
export function wideningPolicies({ ours, others, pods }: WideningQuestion): string[] {
  const own = ours.map(({ metadata, spec }) => ({
    spec,
    rules: spec.egress.map(coverOfRule(metadata.namespace)),
  }));
  return others
    .filter(({ spec }) => concernsEgress(spec))
    .filter((policy) => widens(policy, own, pods))
    .map(({ name }) => name)
    .sort(byText);
}

interface OwnPolicy {
  readonly spec: NetworkPolicy['spec'];
  readonly rules: readonly Cover[];
}

/** Of one of our rules. */
interface Cover {
  readonly ports: EgressRule['ports'];
  readonly hasPeer: (peer: ObservedPeer) => boolean;
}

/** Decided once for all pods that the same policies of ours select. */
function widens({ spec }: ObservedPolicy, own: readonly OwnPolicy[], pods: readonly Labels[]): boolean {
  const decided = new Map<string, boolean>();
  return pods.some((labels) => {
    if (!selects(spec.podSelector ?? {}, labels)) return false;
    const selecting = own.map((policy) => selects(policy.spec.podSelector, labels));
    const key = selecting.join();
    const known = decided.get(key);
    if (known !== undefined) return known;
    const allowed = own.filter((_policy, index) => selecting[index]).flatMap(({ rules }) => rules);
    const isWider = (spec.egress ?? []).some((rule) => !isCovered(rule, allowed));
    decided.set(key, isWider);
    return isWider;
  });
}

/** Each peer on each port must be allowed by one of our rules. */
function isCovered({ to = [], ports = [] }: ObservedRule, allowed: readonly Cover[]): boolean {
  if (to.length === 0 || ports.length === 0) return false;
  return to.every((peer) => {
    const covering = allowed.filter(({ hasPeer }) => hasPeer(peer));
    return ports.every((port) => covering.some((rule) => rule.ports.some((own) => coversPort(own, port))));
  });
}

const coverOfRule =
  (namespace: string) =>
  ({ to, ports }: EgressRule): Cover => {
    const hasBlock = coverOf(
      to.flatMap((own) => ('ipBlock' in own ? (parseBlock(own.ipBlock.cidr) ?? []) : [])),
    );
    const selectors = to.flatMap((own) => ('ipBlock' in own ? [] : [own]));
    return {
      ports,
      hasPeer(peer) {
        const block = blockOf(peer.ipBlock?.cidr);
        return (
          (block !== undefined && hasBlock(block)) ||
          selectors.some((own) => coversPeer(own, namespace, peer))
        );
      },
    };
  };

function coversPort(own: EgressRule['ports'][number], { protocol = 'TCP', port, endPort }: ObservedPort) {
  return own.protocol === protocol && own.port === port && (endPort ?? port) === port;
}

function coversPeer(
  own: Exclude<Peer, { ipBlock: unknown }>,
  namespace: string,
  other: ObservedPeer,
): boolean {
  const { ipBlock, namespaceSelector = only(namespace), podSelector = {} } = other;
  return (
    ipBlock === undefined &&
    narrows(namespaceSelector, own.namespaceSelector.matchLabels) &&
    narrows(podSelector, own.podSelector.matchLabels)
  );
}

function blockOf(cidr: string | undefined): Block | undefined {
  return cidr === undefined ? undefined : parseBlock(cidr);
}

/** Without a namespace selector, a peer is in the policy's own namespace. */
function only(namespace: string): LabelSelector {
  return { matchLabels: { [namespaceName]: namespace } };
}

/** Whether the selector demands each of these labels; further demands only narrow it. */
function narrows({ matchLabels = {} }: LabelSelector, labels: Labels): boolean {
  return Object.entries(labels).every(([key, value]) => matchLabels[key] === value);
}

/**
 * The egress part of a network policy from the API server, whoever made it.
 * Source: https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/network-policy-v1/
 */
export interface ObservedPolicy {
  readonly name: string;
  readonly spec: ObservedSpec;
}

export interface ObservedSpec {
  readonly podSelector?: LabelSelector;
  readonly policyTypes?: readonly string[];
  readonly egress?: readonly ObservedRule[];
}

/** A missing or empty member allows everything. */
export interface ObservedRule {
  readonly to?: readonly ObservedPeer[];
  readonly ports?: readonly ObservedPort[];
}

interface ObservedPeer {
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
  readonly namespaceSelector?: LabelSelector;
  /** Without a namespace selector: pods of the policy's own namespace. */
  readonly podSelector?: LabelSelector;
}

interface ObservedPort {
  /** Default: TCP. */
  readonly protocol?: string;
  /** Missing: every port. */
  readonly port?: number | string;
  /** The last port of a range that begins with `port`. */
  readonly endPort?: number;
}

/** Whether the policy restricts egress; without policy types, it does if it has egress rules. */
export function concernsEgress({ policyTypes, egress = [] }: ObservedSpec): boolean {
  return policyTypes?.includes('Egress') ?? egress.length > 0;
}

/** Whether its members are of the types that an API server checks; what is not cannot be compared with ours. */
export function isWellFormed(spec: unknown): boolean {
  if (!isMap(spec)) return false;
  const { podSelector, policyTypes, egress } = spec;
  return isSelector(podSelector) && isListOf(policyTypes, isText) && isListOf(egress, isRule);
}

const isText = (value: unknown): boolean => typeof value === 'string';

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Of a member that may be missing. */
function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return value === undefined || (Array.isArray(value) && value.every(isItem));
}

const isRule = (rule: unknown): boolean =>
  isMap(rule) && isListOf(rule['to'], isPeer) && isListOf(rule['ports'], isMap);

function isPeer(peer: unknown): boolean {
  if (!isMap(peer)) return false;
  const { ipBlock, namespaceSelector, podSelector } = peer;
  const isBlock = ipBlock === undefined || (isMap(ipBlock) && isText(ipBlock['cidr']));
  return isBlock && isSelector(namespaceSelector) && isSelector(podSelector);
}

function isSelector(selector: unknown): boolean {
  if (selector === undefined) return true;
  if (!isMap(selector)) return false;
  const { matchLabels = {}, matchExpressions } = selector;
  return isMap(matchLabels) && isListOf(matchExpressions, isRequirement);
}

const isRequirement = (requirement: unknown): boolean =>
  isMap(requirement) && isText(requirement['key']) && isListOf(requirement['values'], isText);
