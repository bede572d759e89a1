import { isDeepStrictEqual } from 'node:util';
import { policyNames } from '../../../cluster/egress/contract.ts';
import { isProtected } from '../../../cluster/injection/protected-pods.ts';
import type { EventRecorder } from '../../../cluster/kube/event-recorder.ts';
import { managedByUs } from '../../../cluster/kube/labels.ts';
import { markingOfPolicies } from '../../../cluster/kube/marks.ts';
import { type NameResolver, systemResolver } from '../../../cluster/kube/name-book.ts';
import { type KnownPolicy, type PolicyObject, projectPolicy } from '../../../cluster/kube/project-objects.ts';
import type { Metrics } from '../../../runtime/health/health.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { type ClusterView, type FollowedKind, follow, type KnownPod, specDiffers } from '../cluster-view.ts';
import {
  type ControllerDeps,
  commonOptions,
  type Indexes,
  type Reconciled,
  runController,
} from '../controllers/run-controller.ts';
import { collection, createReconcile } from './reconcile.ts';
import {
  createTerm,
  defaultTuning,
  type EgressTerm,
  type EgressTuning,
  type NamespaceState,
} from './term.ts';

export interface EgressController {
  /** Whether the policy of the protected pods is in place; undefined if unknown, or if another replica leads. */
  egressPolicyOf(namespace: string): boolean | undefined;
  /** Sorted names of others' policies that let protected pods reach more. */
  wideningPoliciesOf(namespace: string): readonly string[];
  /** Called with a namespace for which either of them may answer something else from now on. */
  onChange(handle: (namespace: string) => void): void;
  /** Resolves once the signal was aborted and no work is in progress; never rejects. */
  readonly closed: Promise<void>;
}

export interface EgressOptions {
  /** For names outside the cluster. Default: the name servers of this machine. */
  readonly resolver?: NameResolver;
  readonly tuning?: Partial<EgressTuning>;
}

/** Keeps `svc-egress-<namespace>` wherever there are protected pods or ServiceConfigs, while this replica leads. */
export function startEgressController(
  deps: ControllerDeps,
  indexes: Pick<Indexes, 'pods' | 'serviceConfigs'>,
  options: EgressOptions = {},
): EgressController {
  const { client, log, signal, cluster, leadership, events } = deps;
  const { resolver = systemResolver() } = options;
  const tuning: EgressTuning = { ...defaultTuning, ...options.tuning };
  const policies = follow<PolicyObject, KnownPolicy>({
    ...{ client, log, signal, path: collection, project: projectPolicy },
    keeping: cluster.keepingOf('networkpolicies', markingOfPolicies),
  });
  const metrics = createEgressMetrics(deps.metrics);
  const newTerm = () =>
    createTerm(client, resolver, tuning, ({ namespace, name }) =>
      log.info('egress.policy.applied', { namespace, policy: name }),
    );
  let term: EgressTerm = newTerm();
  const forget = leadership.onChange(() => {
    term = newTerm();
    metrics.show([]);
  });
  signal.addEventListener('abort', forget, { once: true });

  const handles: ((namespace: string) => void)[] = [];
  const changed = (namespace: string) => {
    for (const handle of handles) handle(namespace);
  };
  const look = createReconcile({ deps, indexes, policies, tuning });
  const reconcile = async (namespace: string, lead: AbortSignal): Promise<Reconciled> => {
    const current = term;
    const { state, next } = await look(namespace, current, lead);
    const before = current.states.get(namespace);
    if (state === undefined) current.states.delete(namespace);
    else {
      recordPolicyChanges(namespace, before, state, { log, events });
      current.states.set(namespace, state);
    }
    if (current === term) metrics.show(current.states.values());
    if (!isDeepStrictEqual(state, before)) changed(namespace);
    return next;
  };

  const controller = runController({
    ...commonOptions(deps),
    name: 'egress',
    whenReady: async () => void (await Promise.all([cluster.whenSynced(), policies.whenSynced()])),
    *keys() {
      for (const { name } of cluster.namespaces.values()) yield name;
    },
    reconcile,
  });
  enqueueChanges(cluster, policies, controller.enqueue);
  policies.onChange(({ namespace }) => changed(namespace));
  return {
    egressPolicyOf(namespace) {
      const state = leadership.leading ? term.states.get(namespace) : undefined;
      return state?.applied && policies.get(`${namespace}/${policyNames(namespace).main}`) !== undefined;
    },
    wideningPoliciesOf: (namespace) => term.states.get(namespace)?.widening ?? [],
    onChange: (handle) => void handles.push(handle),
    closed: Promise.all([controller.closed, policies.closed]).then(() => {}),
  };
}

/** Enqueues a namespace when the sources of its policies, or the policies themselves, change. */
function enqueueChanges(
  cluster: ClusterView,
  policies: FollowedKind<KnownPolicy>,
  enqueue: (namespace: string) => void,
): void {
  cluster.pods.onChange((pod, before, gone) => {
    if (matters(pod, before, gone)) enqueue(pod.namespace);
  });
  cluster.serviceConfigs.onChange((config, before, gone) => {
    if (specDiffers(config, before, gone)) enqueue(config.namespace);
  });
  cluster.namespaces.onChange(({ name }, before, gone) => {
    if (gone || before === undefined) enqueue(name);
  });
  policies.onChange(({ namespace }) => enqueue(namespace));
}

function matters(pod: KnownPod, before: KnownPod | undefined, gone: boolean): boolean {
  const was = before !== undefined && isProtected(before.pod);
  const is = !gone && isProtected(pod.pod);
  // nothing else of a pod affects its connections: only its labels, by which policies select it, may change
  return was !== is || (is && !isDeepStrictEqual(pod.pod.metadata.labels, before?.pod.metadata.labels));
}

/** Sums over all namespaces; 0 while another replica leads. */
export interface EgressMetrics {
  show(states: Iterable<NamespaceState>): void;
}

export function createEgressMetrics(metrics: Metrics): EgressMetrics {
  const applied = metrics.gauge(
    'svc_operator_egress_namespaces',
    'Namespaces whose egress policy is in place',
  );
  const foreign = metrics.gauge(
    'svc_operator_egress_foreign_policies',
    'Policies of other owners that have the name of an egress policy',
  );
  const widening = metrics.gauge(
    'svc_operator_egress_widening_policies',
    'Other policies that let protected pods reach more',
  );
  const warnings = metrics.gauge(
    'svc_operator_egress_warnings',
    'Warnings of egress policies, such as an address that may change',
  );
  return {
    show(states) {
      const all = [...states];
      applied.set(all.filter((state) => state.applied).length);
      foreign.set(sum(all, (state) => state.foreign.length));
      widening.set(sum(all, (state) => state.widening.length));
      warnings.set(sum(all, (state) => state.warnings.length));
    },
  };
}

function sum(states: readonly NamespaceState[], of: (state: NamespaceState) => number): number {
  return states.reduce((total, state) => total + of(state), 0);
}

interface Tellers {
  readonly log: Logger;
  readonly events: EventRecorder;
}

const nothing: NamespaceState = { applied: false, foreign: [], widening: [], warnings: [], unresolved: [] };

/** Reports what is new, in the log and, if it concerns the namespace's users, as an event. */
export function recordPolicyChanges(
  namespace: string,
  before: NamespaceState = nothing,
  now: NamespaceState,
  tellers: Tellers,
): void {
  for (const name of added(before.foreign, now.foreign)) {
    const note = `NetworkPolicy ${name} has another owner and is left unchanged, so protected pods do not get the egress policy of svc: delete it, or label it ${managedByUs}`;
    tellPolicy(namespace, name, 'egress.policy.foreign', 'ForeignPolicy', note, tellers);
  }
  for (const name of added(before.widening, now.widening)) {
    const note = `NetworkPolicy ${name} lets protected pods reach more than their egress policy does: narrow its podSelector or its rules`;
    tellPolicy(namespace, name, 'egress.policy.widened', 'EgressWidened', note, tellers);
  }
  for (const what of added(before.unresolved, now.unresolved)) {
    const note = `${what} has no address, so the egress policy lets no protected pod reach it: correct its name, or check DNS`;
    tellers.events.record({
      regarding: { apiVersion: 'v1', kind: 'Namespace', namespace, name: namespace },
      ...{ type: 'Warning', reason: 'NoAddress', action: 'Reconcile', note },
    });
  }
  for (const error of added(before.warnings, now.warnings)) {
    tellers.log.warn('egress.warning', { namespace, error });
  }
}

function added(before: readonly string[], now: readonly string[]): string[] {
  return now.filter((each) => !before.includes(each));
}

function tellPolicy(
  namespace: string,
  name: string,
  event: string,
  reason: string,
  note: string,
  { log, events }: Tellers,
): void {
  log.warn(event, { namespace, policy: name, error: note });
  events.record({
    regarding: { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', namespace, name },
    ...{ type: 'Warning', reason, action: 'Reconcile', note },
  });
}
