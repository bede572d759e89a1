import type { Health, Metrics } from '../../../runtime/health/health.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { mostOfOneCgroup } from '../../../runtime/protocols/protection/bpf-layouts.ts';
import type { CoveragePass } from './coverage.ts';

/** Shows the state of the pod watch: by log and metrics, and in the bodies of `/healthz` and `/readyz`. */
export interface PodWatchState {
  connected(connected: boolean): void;
  /** @param nameOf the `namespace/name` of a pod to protect */
  pass(pass: CoveragePass, nameOf: (uid: string) => string): void;
  /** @param cgroups those with more processes than the table holds for one cgroup, with the UID of their pod if any */
  crowded(cgroups: readonly CrowdedCgroup[]): void;
  nodeKnown(known: boolean): void;
  /** A condition that lasts as long as this process, such as a wrong configuration. */
  broken(reason: string): void;
}

export interface CrowdedCgroup {
  readonly id: bigint;
  readonly uid: string | undefined;
}

export const crowdedReason = `It has had more than ${mostOfOneCgroup} processes at a time: the others are covered only while they stay in their cgroup.`;

interface Parts {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly health: Health;
}

export function createPodWatchState({ log, metrics, health }: Parts): PodWatchState {
  const pods = metrics.gauge('svc_agent_protected_pods', 'Pods on this node whose cgroup is covered');
  const link = metrics.gauge('svc_agent_pod_watch_connected', '1 while the pods of this node are watched');
  const showCrowded = crowdedCgroups({ log, metrics, health });
  const showUncovered = uncoveredPods({ log, metrics, health });
  pods.set(0);
  link.set(0);
  return {
    connected(connected) {
      link.set(connected ? 1 : 0);
      if (connected) health.recovered('pods');
      else health.degraded('pods', 'Pods are not being watched: newer ones are not covered by their label.');
    },
    pass({ covered, uncovered, failure }, nameOf) {
      pods.set(covered.size);
      health.fact('pods_covered', covered.size);
      if (failure === undefined)
        showUncovered(new Map([...uncovered].map(([uid, why]) => [nameOf(uid), why])));
      else health.degraded('pod cgroups', failure);
    },
    crowded: showCrowded,
    nodeKnown(known) {
      if (known) health.recovered('node name');
      else
        health.degraded(
          'node name',
          'The cluster has no node of this name: no pod is watched; set NODE_NAME.',
        );
    },
    broken: (reason) => health.degraded('pod watch', reason),
  };
}

const mostNamed = 20;

/** Logs each cgroup once while it is crowded. */
function crowdedCgroups({ log, metrics, health }: Parts): PodWatchState['crowded'] {
  const gauge = metrics.gauge(
    'svc_agent_crowded_cgroups',
    'Cgroups with more processes than the table of covered processes holds for one cgroup',
  );
  let told: ReadonlySet<bigint> = new Set();
  gauge.set(0);
  return (cgroups) => {
    for (const { id, uid } of cgroups)
      if (!told.has(id)) log.warn('pod.crowded', { cgroup: String(id), pod: uid, most: mostOfOneCgroup });
    told = new Set(cgroups.map(({ id }) => id));
    gauge.set(told.size);
    if (told.size === 0) return health.recovered('crowded cgroups');
    const named = cgroups.slice(0, mostNamed).map(({ id, uid }) => (uid ? `pod ${uid}` : `cgroup ${id}`));
    health.degraded('crowded cgroups', `${[...new Set(named)].join(', ')}: ${crowdedReason}`);
  };
}

/** Shows labelled pods that are not covered, in metrics and health, and once each in the log. */
function uncoveredPods({ log, metrics, health }: Parts): (reasons: ReadonlyMap<string, string>) => void {
  const gauge = metrics.gauge(
    'svc_agent_uncovered_pods',
    'Labelled pods on this node whose cgroup is not covered',
    ['namespace', 'pod'],
  );
  let told: ReadonlyMap<string, string> = new Map();
  return (reasons) => {
    for (const [name, reason] of reasons) {
      gauge.set(1, labelsOf(name));
      if (told.get(name) !== reason) log.warn('pod.uncovered', { pod: name, reason });
    }
    for (const name of told.keys()) if (!reasons.has(name)) gauge.remove(labelsOf(name));
    told = reasons;
    const named = [...reasons].slice(0, mostNamed);
    health.fact('pods_uncovered', named.map(([name]) => name).join(', '));
    if (reasons.size === 0) return health.recovered('pod cgroups');
    const which = named.map(([name, reason]) => `${name}: ${reason}`).join(' ');
    health.degraded('pod cgroups', `${reasons.size} labelled pods are not covered. ${which}`);
  };
}

function labelsOf(name: string): { namespace: string; pod: string } {
  const [namespace = '', pod = ''] = name.split('/');
  return { namespace, pod };
}
