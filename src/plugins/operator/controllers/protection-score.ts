import {
  type ConfigSelection,
  createSelection,
  isExempt,
  isOver,
  isProtected,
} from '../../../cluster/injection/protected-pods.ts';
import { isLabelled } from '../../../cluster/kube/labels.ts';
import type { Pod } from '../../../cluster/kube/pod.ts';
import type { NodeReportEntry } from '../../../cluster/resources/protection-report.ts';
import type { Score } from '../../../cluster/score/contract.ts';
import { scoreOf } from '../../../cluster/score/score-of.ts';
import { factsOf, groupsOf, isConcerned } from '../../../cluster/score/workloads.ts';
import { createTurns, takeInTurns } from '../../../runtime/lifecycle/turns.ts';
import { sleep } from '../../../runtime/lifecycle/wait.ts';
import { type KnownNamespace, type KnownWorkload, specDiffers, type Workloads } from '../cluster-view.ts';
import type { NodeAgentState, NodeReports } from '../contract.ts';
import { createReportStore, createScoreGauge, reportStatus } from './protection-report.ts';
import { type Controller, type ControllerDeps, type Indexes, runController } from './run-controller.ts';

/**
 * While this replica leads, maintains the ProtectionReport of each namespace and exports the scores of its workloads.
 */
export function startScoreController(deps: ScoreDeps): Controller {
  const { client, cluster, leadership, log, metrics, signal } = deps;
  const timing = { ...usualTiming, ...deps.timing };
  const templates = templatesOf(cluster.workloads);
  const gauge = createScoreGauge(metrics);
  const store = createReportStore(client, timing.trust);
  const nextTurn = createTurns();
  const forget = leadership.onChange((leading) => {
    if (leading) return;
    gauge.clear();
    store.forgetAll();
  });
  signal.addEventListener('abort', forget, { once: true });
  const controller = runController({
    name: 'protection-report',
    ...{ leadership, metrics, log, signal, settleMs: timing.settle, resyncMs: timing.resync },
    async whenReady() {
      await cluster.whenSynced();
      await untilKnown(deps, timing.unknown);
    },
    *keys() {
      for (const { name } of cluster.namespaces.values()) yield name;
    },
    async reconcile(namespace, term) {
      const steps = selectionSteps(deps, templates, namespace);
      const configOf = await takeInTurns(steps, nextTurn, () => term.throwIfAborted());
      const scores = scoreNamespace(deps, templates, namespace, configOf);
      gauge.show(namespace, scores);
      // deleting a namespace deletes its report
      if (cluster.namespaces.get(namespace)?.terminating !== false) store.forget(namespace);
      else if (scores.length === 0) await store.keep(namespace, undefined, term);
      else await store.keep(namespace, reportStatus(scores, nodeReports(deps, namespace)), term);
      return undefined;
    },
  });
  follow(deps, timing.nodes, (namespace) => controller.enqueue(namespace));
  return controller;
}

function follow(deps: ScoreDeps, nodesMs: number, enqueue: (namespace: string) => void): void {
  const { pods, workloads, serviceConfigs, namespaces } = deps.cluster;
  deps.egress.onChange(enqueue);
  pods.onChange(({ namespace }) => enqueue(namespace));
  workloads.onChange(({ namespace }) => enqueue(namespace));
  serviceConfigs.onChange((config, before, gone) => {
    if (specDiffers(config, before, gone)) enqueue(config.namespace);
  });
  namespaces.onChange(({ name }) => enqueue(name));
  onNodeChanges(deps, nodesMs, enqueue);
}

/** Calls `handle` for each namespace with a pod on a node whose state has changed; gathers changes. */
function onNodeChanges(deps: ScoreDeps, gatherMs: number, handle: (namespace: string) => void): void {
  const { nodes, cluster, signal } = deps;
  const changed = new Set<string>();
  const look = () => {
    const namespaces = new Set<string>();
    for (const { namespace, pod } of cluster.pods.values()) {
      if (changed.has(pod.spec.nodeName ?? '')) namespaces.add(namespace);
    }
    changed.clear();
    for (const namespace of namespaces) handle(namespace);
  };
  nodes.onChange((node) => {
    if (signal.aborted) return;
    if (changed.size === 0) setTimeout(look, gatherMs).unref();
    changed.add(node);
  });
}

const pollMs = 500;

/**
 * Resolves once the agents and egress policies of all protected pods are known, this replica no longer leads, or
 * `longestMs` has passed. Otherwise each change of the leader would lower every score for a moment.
 */
async function untilKnown(deps: ScoreDeps, longestMs: number): Promise<void> {
  const { leadership, signal } = deps;
  const end = performance.now() + longestMs;
  while (leadership.leading && !signal.aborted && performance.now() < end && !allKnown(deps)) {
    await sleep(pollMs, signal).catch(() => {});
  }
}

function allKnown(deps: ScoreDeps): boolean {
  const { cluster, nodes, egress } = deps;
  for (const { pod, namespace } of cluster.pods.values()) {
    const { nodeName } = pod.spec;
    if (nodeName === undefined || !isProtected(pod) || scoredNamespace(deps, namespace) === undefined)
      continue;
    if (nodes.agentOf(nodeName) === undefined) return false;
    if (egress.egressPolicyOf(namespace) === undefined) return false;
  }
  return true;
}

/**
 * The scores of all workloads of a namespace that are or should be protected; none in namespaces that the webhook
 * skips.
 */
export function scoreNamespace(
  deps: ScoreDeps,
  templates: Templates,
  namespace: string,
  configOf: ConfigSelection = selectionIn(deps, namespace),
): readonly Score[] {
  const { cluster, indexes, nodes } = deps;
  const known = scoredNamespace(deps, namespace);
  if (known === undefined) return [];
  const surroundings = {
    labelled: isLabelled(known.labels),
    ...{ configOf, nodes },
    egressPolicy: deps.egress.egressPolicyOf(namespace),
    wideningPolicies: deps.egress.wideningPoliciesOf(namespace),
  };
  return groupsOf(indexes.pods.in(namespace), templates.in(namespace), cluster.workloads.ownerOf)
    .filter((group) => isConcerned(group, surroundings))
    .map((group) => scoreOf(factsOf(group, surroundings)));
}

function selectionIn({ indexes }: ScoreDeps, namespace: string): ConfigSelection {
  return createSelection([...indexes.serviceConfigs.in(namespace)]);
}

/** Decides for what `scoreNamespace` asks about, in steps of one pod: thousands of pods beside as many ServiceConfigs. */
function* selectionSteps(
  deps: ScoreDeps,
  templates: Templates,
  namespace: string,
): Generator<void, ConfigSelection> {
  const configOf = selectionIn(deps, namespace);
  const decide = (pod: Pod) => void configOf(pod);
  for (const { template } of templates.in(namespace)) {
    if (template !== undefined) yield decide(template);
  }
  const isEach = !isLabelled(scoredNamespace(deps, namespace)?.labels);
  for (const { pod } of isEach ? deps.indexes.pods.in(namespace) : []) yield decide(pod);
  return configOf;
}

/** Undefined for namespaces that the webhook skips or that are being deleted. */
function scoredNamespace({ cluster, namespace: own }: ScoreDeps, name: string): KnownNamespace | undefined {
  const known = cluster.namespaces.get(name);
  return known?.terminating || isExempt(name, own) ? undefined : known;
}

/** Workloads with a pod template of their own, by namespace. */
interface Templates {
  in(namespace: string): Iterable<KnownWorkload>;
}

export function templatesOf(workloads: Workloads): Templates {
  const all = new Map<string, Map<string, KnownWorkload>>();
  const drop = ({ namespace, kind, name }: KnownWorkload) => {
    const within = all.get(namespace);
    within?.delete(`${kind}/${name}`);
    if (within?.size === 0) all.delete(namespace);
  };
  const put = (workload: KnownWorkload) => {
    if (workload.template === undefined) return drop(workload);
    const { namespace, kind, name } = workload;
    const within = all.get(namespace) ?? new Map<string, KnownWorkload>();
    all.set(namespace, within.set(`${kind}/${name}`, workload));
  };
  for (const workload of workloads.values()) put(workload);
  workloads.onChange((workload, _before, gone) => (gone ? drop(workload) : put(workload)));
  return { in: (namespace) => all.get(namespace)?.values() ?? [] };
}

/** Agents' reports on the nodes of a namespace's pods; nodes whose agent is silent are left out. */
export function nodeReports(
  { indexes, nodes }: Pick<ScoreDeps, 'indexes' | 'nodes'>,
  namespace: string,
): readonly NodeReportEntry[] {
  const names = new Set<string>();
  for (const { pod } of indexes.pods.in(namespace)) {
    if (pod.spec.nodeName !== undefined && !isOver(pod)) names.add(pod.spec.nodeName);
  }
  return [...names].flatMap((name) => {
    const state = nodes.agentOf(name);
    return state === undefined ? [] : [nodeReport(state)];
  });
}

function nodeReport({ node, tier, enforcing, reason, passedOver }: NodeAgentState): NodeReportEntry {
  return {
    ...{ name: node, tier, enforcing },
    ...(reason !== '' && { reason }),
    ...(passedOver.length > 0 && { passedOver }),
  };
}

export interface ScoreDeps extends Omit<ControllerDeps, 'events'> {
  readonly nodes: NodeReports & {
    /** Called with the name of a node whose state has changed. */
    onChange(handle: (node: string) => void): void;
  };
  readonly egress: {
    /** Whether the namespace's policy is applied; undefined if unknown. */
    egressPolicyOf(namespace: string): boolean | undefined;
    /** Names of policies of others that let its protected pods reach more. */
    wideningPoliciesOf(namespace: string): readonly string[];
    /** Called with a namespace for which either of them may answer something else from now on. */
    onChange(handle: (namespace: string) => void): void;
  };
  readonly indexes: Pick<Indexes, 'pods' | 'serviceConfigs'>;
  /** In milliseconds; omitted ones have their default. */
  readonly timing?: Partial<ScoreTiming>;
}

export interface ScoreTiming {
  /** How long changes of a namespace are gathered. */
  readonly settle: number;
  /** How long changes of nodes are gathered. */
  readonly nodes: number;
  /** Between two passes over all namespaces, which cost no call if nothing has changed. */
  readonly resync: number;
  /** How long a new leader waits for the agents' reports and the egress policies before it scores without them. */
  readonly unknown: number;
  /** How long a written report is assumed to exist. */
  readonly trust: number;
}

const usualTiming: ScoreTiming = {
  settle: 2_000,
  nodes: 2_000,
  resync: 60_000,
  unknown: 45_000,
  trust: 15 * 60_000,
};
