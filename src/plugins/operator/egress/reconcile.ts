import { isDeepStrictEqual } from 'node:util';
import {
  type EgressEndpoint,
  type EgressFacts,
  hostsAnnotation,
  type NetworkPolicy,
  policyNames,
} from '../../../cluster/egress/contract.ts';
import { formatHosts, isNoted, parseHosts } from '../../../cluster/egress/hosts.ts';
import { egressPolicies } from '../../../cluster/egress/policies.ts';
import { unionOf, urlsOfPod, urlsOfSpec, type Wanted } from '../../../cluster/egress/wanted.ts';
import { wideningPolicies } from '../../../cluster/egress/widening.ts';
import { createSelection, isExempt, isProtected } from '../../../cluster/injection/protected-pods.ts';
import { apply, hasCode, type KubeClient, unless } from '../../../cluster/kube/client.ts';
import { gatherFacts } from '../../../cluster/kube/gather-facts.ts';
import { managedBy } from '../../../cluster/kube/labels.ts';
import type { KnownPolicy } from '../../../cluster/kube/project-objects.ts';
import { createTurns, takeInTurns } from '../../../runtime/lifecycle/turns.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { byNamespace, type FollowedKind, type KnownPod, type KnownServiceConfig } from '../cluster-view.ts';
import type { ControllerDeps, Indexes, Reconciled } from '../controllers/run-controller.ts';
import type { EgressTerm, EgressTuning, NamespaceState } from './term.ts';

export interface LookOptions {
  readonly deps: ControllerDeps;
  readonly indexes: Pick<Indexes, 'pods' | 'serviceConfigs'>;
  readonly policies: FollowedKind<KnownPolicy>;
  readonly tuning: EgressTuning;
}

/** Reconciles the policies of a namespace; `state` is undefined if it needs none. */
export type Reconcile = (
  namespace: string,
  term: EgressTerm,
  signal: AbortSignal,
) => Promise<Partial<Found> & Pick<Found, 'next'>>;

export function createReconcile({ deps, indexes, policies, tuning }: LookOptions): Reconcile {
  const { client, log, cluster, defaults } = deps;
  const { in: policiesIn } = byNamespace(policies);
  const nextTurn = createTurns();
  return async (namespace, term, signal) => {
    const place = cluster.namespaces.get(namespace);
    // deleting a namespace deletes its objects
    if (place === undefined || place.terminating) return { next: undefined };
    const pods = [...indexes.pods.in(namespace)].filter(({ pod }) => isProtected(pod));
    const serviceConfigs = indexes.serviceConfigs.in(namespace);
    const { vaultAddress } = defaults;
    const wanted: Wanted | undefined = isExempt(namespace, deps.namespace)
      ? undefined
      : await takeInTurns(wantedSteps({ pods, serviceConfigs, vaultAddress }), nextTurn, () =>
          signal.throwIfAborted(),
        );
    const given: ReconcileDeps = { client, log, tuning, term, policiesIn, policyOf: policies.get };
    if (wanted !== undefined) return reconcileNamespace(namespace, wanted, pods, given, signal);
    const laterMs = await retire(namespace, Object.values(policyNames(namespace)), given, signal);
    return { next: laterMs === undefined ? undefined : { requeueAfterMs: laterMs } };
  };
}

export interface NamespaceContent {
  /** Protected pods only. */
  readonly pods: Iterable<KnownPod>;
  readonly serviceConfigs: Iterable<KnownServiceConfig>;
  readonly vaultAddress: string | undefined;
}

/** The union over a namespace, in steps of one object; undefined if it has neither protected pods nor ServiceConfigs. */
function* wantedSteps(content: NamespaceContent): Generator<void, Wanted | undefined> {
  const { pods, serviceConfigs, vaultAddress } = content;
  const configs = [...serviceConfigs];
  const configOf = createSelection(configs);
  const urls = configs.map(({ spec }) => urlsOfSpec(spec, vaultAddress));
  for (const { pod } of pods) {
    urls.push(urlsOfPod(pod, configOf, vaultAddress));
    yield;
  }
  return urls.length === 0 ? undefined : unionOf(urls, configs);
}

interface ReconcileDeps {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly tuning: EgressTuning;
  readonly term: EgressTerm;
  /** By `namespace/name`. */
  readonly policyOf: (key: string) => KnownPolicy | undefined;
  readonly policiesIn: (namespace: string) => Iterable<KnownPolicy>;
}

interface Found {
  readonly state: NamespaceState;
  readonly next: Reconciled;
}

/** Reconciles the policies of a namespace with protected pods. @throws KubeError */
async function reconcileNamespace(
  namespace: string,
  wanted: Wanted,
  pods: readonly KnownPod[],
  deps: ReconcileDeps,
  signal: AbortSignal,
): Promise<Found> {
  const names = Object.values(policyNames(namespace));
  for (const name of names) {
    const known = deps.policyOf(`${namespace}/${name}`);
    if (known !== undefined) deps.term.adopt(known);
  }
  const { term } = deps;
  const isNew = deps.policyOf(`${namespace}/${policyNames(namespace).main}`) === undefined;
  const facts = await term.waiting.run(isNew, (patienceMs) =>
    gatherFacts(namespace, wanted, term.addresses, signal, patienceMs),
  );
  const { policies, warnings } = egressPolicies(facts);
  const foreign = await keepAll(policies, deps, signal);
  const byName = await deps.term.cilium.keep(facts, signal);
  const spare = names.filter((name) => !policies.some(({ metadata }) => metadata.name === name));
  const laterMs = await retire(namespace, spare, deps, signal);
  const state = {
    ...{ applied: !foreign.includes(names[0] ?? ''), foreign, warnings: [...warnings, ...byName] },
    unresolved: unresolvedIn(facts),
    widening: widenedBy(namespace, policies, pods, deps),
  };
  const againMs = Math.min(laterMs ?? Number.POSITIVE_INFINITY, refreshMs(facts, deps.tuning));
  return { state, next: { requeueAfterMs: againMs } };
}

/** @returns names of the policies that belong to somebody else */
async function keepAll(
  policies: readonly NetworkPolicy[],
  { client, log, term, policyOf }: ReconcileDeps,
  signal: AbortSignal,
): Promise<string[]> {
  const foreign: string[] = [];
  for (const plain of policies) {
    const { namespace, name } = plain.metadata;
    const policy = noted(plain, policyOf(`${namespace}/${name}`), term.sightsIn(namespace));
    term.unneeded.forget(`${namespace}/${name}`);
    const kept = await keepPolicy(client, policy, policyOf(`${namespace}/${name}`), signal);
    if (kept === 'applied') log.info('egress.policy.applied', { namespace, policy: name });
    if (kept === 'foreign') foreign.push(name);
  }
  return foreign;
}

/** With the times of its addresses, or with the annotation that is there if these have hardly changed. */
function noted(
  policy: NetworkPolicy,
  known: KnownPolicy | undefined,
  { minute, unseen }: ReturnType<EgressTerm['sightsIn']>,
): NetworkPolicy {
  const { annotations, ...metadata } = policy.metadata;
  const hosts = parseHosts(annotations?.[hostsAnnotation] ?? '');
  if (hosts.size === 0) return policy;
  const text = known?.hosts;
  const value =
    text !== undefined && isNoted(text, hosts, minute, unseen) ? text : formatHosts(hosts, minute, unseen);
  return { ...policy, metadata: { ...metadata, annotations: { [hostsAnnotation]: value } } };
}

/**
 * Removes policies of the operator that are no longer needed, once their grace period is over.
 * @returns milliseconds until the next one is due @throws KubeError
 */
async function retire(
  namespace: string,
  names: readonly string[],
  { client, log, term, policyOf }: ReconcileDeps,
  signal: AbortSignal,
): Promise<number | undefined> {
  let laterMs: number | undefined;
  for (const name of names) {
    const key = `${namespace}/${name}`;
    const known = policyOf(key);
    if (known?.ours !== true || known.shared) {
      term.unneeded.forget(key);
      continue;
    }
    const remaining = term.unneeded.remaining(key);
    if (remaining > 0) laterMs = Math.max(laterMs ?? 0, remaining);
    else {
      await unless(term.cilium.remove(namespace, name, signal), 'KUBE_DENIED');
      await removePolicy(client, known, signal);
      log.info('egress.policy.removed', { namespace, policy: name });
    }
  }
  return laterMs;
}

function widenedBy(
  namespace: string,
  ours: readonly NetworkPolicy[],
  pods: readonly KnownPod[],
  { policiesIn }: ReconcileDeps,
): string[] {
  const names = ours.map(({ metadata }) => metadata.name);
  const others = [...policiesIn(namespace)].filter(({ name, ours }) => !(ours && names.includes(name)));
  return wideningPolicies({ ours, others, pods: distinctLabels(pods) });
}

/** Pods of one workload have the same labels, which the cluster view keeps once. */
function distinctLabels(pods: readonly KnownPod[]): Readonly<Record<string, string>>[] {
  return [...new Set(pods.map(({ pod }) => pod.metadata.labels ?? {}))];
}

function unresolvedIn({ vaults, stores }: EgressFacts): string[] {
  const hosts = (endpoints: readonly EgressEndpoint[], what: string) =>
    endpoints.flatMap((to) =>
      to.kind === 'external' && to.addresses.length === 0 && !to.isPending ? [`${what} ${to.host}`] : [],
    );
  return [...new Set([...hosts(vaults, 'Secrets server'), ...hosts(stores, 'Object store')])].sort();
}

/** So many addresses take as long again to look up and to compare as all else of a namespace. */
const manyAddresses = 512;
/** Of names that have yet to be answered for, a few at a time. */
const manyPending = 256;

/**
 * With jitter, so that the namespaces do not ask at the same time. A namespace with thousands of addresses, which name
 * servers of its users may make up, comes less often.
 */
function refreshMs(facts: EgressFacts, tuning: EgressTuning): number {
  const pending = pendingIn(facts);
  if (pending > 0) return tuning.pendingMs * (1 + pending / manyPending) * jitter();
  const isUnresolved = unresolvedIn(facts).length > 0;
  const usualMs = isUnresolved ? tuning.unresolvedMs : tuning.refreshMs;
  return usualMs * (1 + addressesIn(facts) / manyAddresses) * jitter();
}

const jitter = () => 0.8 + 0.4 * Math.random();

function pendingIn({ vaults, stores, extra }: EgressFacts): number {
  return [...vaults, ...stores, ...extra].filter((to) => 'isPending' in to && to.isPending).length;
}

function addressesIn({ vaults, stores, extra }: EgressFacts): number {
  const lists = [...vaults, ...stores, ...extra].map((to) => ('addresses' in to ? to.addresses : undefined));
  return lists.reduce((sum, list) => sum + (list?.length ?? 0), 0);
}

/** `foreign`: a policy with this name and other content belongs to somebody else. */
export type Kept = 'unchanged' | 'applied' | 'foreign';

export const collection = '/apis/networking.k8s.io/v1/networkpolicies';

/** Creates or corrects a policy. @throws KubeError */
async function keepPolicy(
  client: KubeClient,
  wanted: NetworkPolicy,
  known: KnownPolicy | undefined,
  signal: AbortSignal,
): Promise<Kept> {
  if (known !== undefined && !known.ours) {
    return says(known, wanted) ? 'unchanged' : 'foreign';
  }
  if (known !== undefined && isCurrent(known, wanted)) return 'unchanged';
  try {
    await apply(client, {
      path: pathOf(wanted.metadata),
      object: asOurs(wanted, known),
      force: known !== undefined,
      signal,
    });
    return 'applied';
  } catch (error) {
    // somebody else has created a policy with this name meanwhile
    if (hasCode(error, 'KUBE_CONFLICT')) return 'foreign';
    throw error;
  }
}

/** Removes a policy of the operator, unless it has changed since it was read. @throws KubeError */
async function removePolicy(client: KubeClient, known: KnownPolicy, signal: AbortSignal): Promise<void> {
  const { uid, version: resourceVersion } = known;
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } };
  await unless(client.request({ method: 'DELETE', path: pathOf(known), body, signal }), 'KUBE_NOT_FOUND');
}

function pathOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  const [place, policy] = [namespace, name].map(encodeURIComponent);
  return `/apis/networking.k8s.io/v1/namespaces/${place}/networkpolicies/${policy}`;
}

/** With the UID, so that a policy that has replaced the known one is not changed by mistake. */
function asOurs(wanted: NetworkPolicy, known: KnownPolicy | undefined): object {
  const labels = { ...wanted.metadata.labels, ...managedBy };
  const uid = known === undefined ? {} : { uid: known.uid };
  return { ...wanted, metadata: { ...wanted.metadata, labels, ...uid } };
}

/** Whether a policy has the wanted spec. The API server omits empty lists. */
function says(
  { spec: { egress = [], ...rest } }: KnownPolicy,
  { spec }: Pick<NetworkPolicy, 'spec'>,
): boolean {
  return isDeepStrictEqual({ ...rest, egress }, { ...spec });
}

function isCurrent(known: KnownPolicy, { metadata, spec }: NetworkPolicy): boolean {
  const labels = Object.entries({ ...metadata.labels, ...managedBy });
  return (
    labels.every(([key, value]) => known.labels[key] === value) &&
    known.hosts === metadata.annotations?.[hostsAnnotation] &&
    says(known, { spec })
  );
}
