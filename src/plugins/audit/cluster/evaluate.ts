import type { KnownNamespace, KnownWorkload } from '../../../core/cluster/known.ts';
import { keyFor, ownerOf } from '../../../core/cluster/owner.ts';
import { isExempt } from '../../../core/cluster/protected.ts';
import { isLabelled } from '../../../core/kubernetes/labels.ts';
import { scoreOf } from '../../../core/score/score-of.ts';
import { isConcerned } from '../../../core/score/workloads/concerned.ts';
import { factsOf, type Surroundings } from '../../../core/score/workloads/facts.ts';
import { type Group, groupsOf } from '../../../core/score/workloads/groups.ts';
import type { AuditedWorkload } from './audited.ts';
import type { ClusterObjects } from './collections.ts';
import { egressOf } from './egress.ts';
import { levelOf } from './finding-level.ts';
import type { OperatorState } from './operator-state.ts';
import { reportEntry } from './report-entry.ts';

/** Agents talk to the operator alone. */
const noAgents = { agentOf: () => undefined };
const kinds = ['deployments', 'statefulSets', 'daemonSets', 'replicaSets', 'jobs', 'cronJobs'] as const;

/**
 * Every workload of the cluster, by namespace, kind and name; those that the webhook never looks at are left out:
 * kube-system and the operator's own namespace.
 */
export function evaluate(
  objects: ClusterObjects,
  operator: OperatorState,
  own: string,
): readonly AuditedWorkload[] {
  const workloads = new Map(
    kinds.flatMap((kind) => [...objects[kind].values()].map((one) => [keyFor(one), one])),
  );
  const content = {
    pods: Map.groupBy(objects.pods.values(), ({ namespace }) => namespace),
    templates: Map.groupBy(
      [...workloads.values()].filter(({ template }) => template !== undefined),
      ({ namespace }) => namespace,
    ),
    policies: Map.groupBy(objects.policies.values(), ({ namespace }) => namespace),
    configs: Map.groupBy(objects.serviceConfigs.values(), ({ namespace }) => namespace),
    reports: Map.groupBy(objects.reports.values(), ({ namespace }) => namespace),
    workloads,
  };
  return [...objects.namespaces.values()]
    .filter(({ name, terminating }) => !terminating && !isExempt(name, own))
    .flatMap((namespace) => ofNamespace(namespace, content, operator))
    .sort(byTitle);
}

interface Content {
  readonly pods: ReadonlyMap<string, KnownOf<'pods'>[]>;
  readonly templates: ReadonlyMap<string, KnownWorkload[]>;
  readonly policies: ReadonlyMap<string, KnownOf<'policies'>[]>;
  readonly configs: ReadonlyMap<string, KnownOf<'serviceConfigs'>[]>;
  readonly reports: ReadonlyMap<string, KnownOf<'reports'>[]>;
  readonly workloads: ReadonlyMap<string, KnownWorkload>;
}

type KnownOf<Name extends keyof ClusterObjects> = ClusterObjects[Name] extends {
  get(key: string): infer T | undefined;
}
  ? NonNullable<T>
  : never;

function ofNamespace({ name, labels }: KnownNamespace, content: Content, operator: OperatorState) {
  const pods = content.pods.get(name) ?? [];
  const surroundings: Surroundings = {
    labelled: isLabelled(labels),
    serviceConfigs: content.configs.get(name) ?? [],
    nodes: noAgents,
    ...egressOf(name, content.policies.get(name) ?? [], pods),
  };
  const report = content.reports.get(name)?.[0]?.status;
  return groupsOf(pods, content.templates.get(name) ?? [], (pod) =>
    ownerOf(pod, (key) => content.workloads.get(key)),
  ).map((group) => audited(group, surroundings, operator, report));
}

function audited(
  group: Group,
  surroundings: Surroundings,
  operator: OperatorState,
  status: Parameters<typeof reportEntry>[0],
): AuditedWorkload {
  const asks = isConcerned(group, surroundings);
  const facts = factsOf(group, surroundings);
  const own = scoreOf(facts);
  const entry = asks
    ? reportEntry(status, operator, facts, own)
    : { because: 'Nothing asks for its protection, so that the operator does not look at it.' };
  const { namespace, kind, name, pods } = own;
  const { score, addends } = 'report' in entry ? entry.report : own;
  return {
    ...{ namespace, kind, name, score, pods, protected: own.protected, asks },
    ...('report' in entry ? { source: 'report' } : { source: 'objects', because: entry.because }),
    addends,
    findings: own.findings.map((finding) => ({ ...finding, level: levelOf(finding.id, asks) })),
  };
}

function byTitle(a: AuditedWorkload, b: AuditedWorkload): number {
  for (const part of ['namespace', 'kind', 'name'] as const)
    if (a[part] !== b[part]) return a[part] < b[part] ? -1 : 1;
  return 0;
}
