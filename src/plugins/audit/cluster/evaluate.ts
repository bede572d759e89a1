import { type EgressRule, type NetworkPolicy, policyNames } from '../../../cluster/egress/contract.ts';
import { concernsEgress, type ObservedRule, wideningPolicies } from '../../../cluster/egress/widening.ts';
import { createSelection, isExempt } from '../../../cluster/injection/protected-pods.ts';
import {
  type KnownNamespace,
  type KnownPod,
  type KnownWorkload,
  keyFor,
  ownerOf,
} from '../../../cluster/kube/known-objects.ts';
import { isLabelled } from '../../../cluster/kube/labels.ts';
import type { KnownPolicy } from '../../../cluster/kube/project-objects.ts';
import type { ProtectionReportStatus, WorkloadReport } from '../../../cluster/resources/protection-report.ts';
import type { Factor, Score, WorkloadFacts } from '../../../cluster/score/contract.ts';
import { scoreOf } from '../../../cluster/score/score-of.ts';
import {
  factsOf,
  type Group,
  groupsOf,
  isConcerned,
  type WorkloadContext,
} from '../../../cluster/score/workloads.ts';
import type { ClusterObjects, OperatorState } from './collections.ts';
import { type AuditedWorkload, levelOf } from './findings.ts';

/** The audit knows no agents: they report only to the operator. */
const noAgents = { agentOf: () => undefined };
const kinds = ['deployments', 'statefulSets', 'daemonSets', 'replicaSets', 'jobs', 'cronJobs'] as const;

/**
 * Every workload of the cluster, by namespace, kind and name, except for those that the webhook never reviews: in
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
  const surroundings: WorkloadContext = {
    labelled: isLabelled(labels),
    configOf: createSelection(content.configs.get(name) ?? []),
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
  surroundings: WorkloadContext,
  operator: OperatorState,
  status: Parameters<typeof reportEntry>[0],
): AuditedWorkload {
  const asks = isConcerned(group, surroundings);
  const facts = factsOf(group, surroundings);
  const own = scoreOf(facts);
  const entry = asks
    ? reportEntry(status, operator, facts, own)
    : { because: 'Nothing asks for its protection, so the operator does not score it.' };
  const { namespace, kind, name, pods } = own;
  const { score, addends } = 'report' in entry ? entry.report : own;
  return {
    namespace,
    kind,
    name,
    score,
    pods,
    protected: own.protected,
    asks,
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

/** The operator's report on a workload, or why it is not used, as a sentence. */
export type Entry = { readonly report: WorkloadReport } | { readonly because: string };

/**
 * Uses the operator's report while an operator leads and the report agrees with the cluster in what both can see; then
 * the facts that only agents report are credible as well.
 */
export function reportEntry(
  status: ProtectionReportStatus | undefined,
  operator: OperatorState,
  facts: WorkloadFacts,
  own: Score,
): Entry {
  if (!operator.alive) return { because: operator.because };
  if (status === undefined) return { because: 'The namespace has no ProtectionReport yet.' };
  const report = status.workloads?.find(({ kind, name }) => kind === own.kind && name === own.name);
  if (report === undefined) return { because: missing(status) };
  if (report.pods !== own.pods)
    return { because: `The ProtectionReport has ${report.pods} pods of it, but there are ${own.pods}.` };
  if (!isSound(report)) return { because: 'The ProtectionReport contradicts itself.' };
  if (!agrees(report, facts)) return { because: 'The ProtectionReport has pods that no longer exist.' };
  return { report };
}

function missing({ summary }: ProtectionReportStatus): string {
  return (summary?.leftOut ?? 0) > 0
    ? 'The ProtectionReport had no room for it.'
    : 'The ProtectionReport does not know it yet.';
}

function isSound({ score, addends }: WorkloadReport): boolean {
  const parts = addends.every(({ points, of }) => points >= 0 && points <= of);
  return parts && addends.reduce((sum, { points }) => sum + points, 0) === score && score <= 100;
}

/** Factors that depend on the pod alone. */
const visible = ['wrapper', 'references'];

/** Whether one of the workload's pods, or its template, matches what the report says about the worst pod. */
function agrees(report: WorkloadReport, facts: WorkloadFacts): boolean {
  const each = facts.pods.length === 0 ? [facts] : facts.pods.map((pod) => ({ ...facts, pods: [pod] }));
  return each.some((one) => {
    const { addends } = scoreOf(one);
    return visible.every((name) => pointsOf(addends, name) === pointsOf(report.addends, name));
  });
}

const pointsOf = (addends: readonly Factor[], name: string) =>
  addends.find((one) => one.name === name)?.points;

export interface EgressFound {
  readonly egressPolicy: boolean;
  readonly wideningPolicies: readonly string[];
}

/**
 * What a namespace's policies mean for its protected pods, as far as the cluster alone shows. A policy of the operator
 * that somebody has changed to allow everything does not count.
 */
function egressOf(
  namespace: string,
  policies: readonly KnownPolicy[],
  pods: readonly KnownPod[],
): EgressFound {
  const names = policyNames(namespace);
  const ours = policies.filter((one) => Object.values(names).includes(one.name) && isWhole(one));
  const labels = pods
    .filter(({ pod }) => isLabelled(pod.metadata.labels))
    .map(({ pod }) => pod.metadata.labels);
  return {
    egressPolicy: ours.some(({ name }) => name === names.main),
    wideningPolicies: wideningPolicies({
      ours: ours.map(asMade),
      others: policies.filter((one) => !ours.includes(one)),
      pods: [...new Set(labels)].map((one) => one ?? {}),
    }),
  };
}

/** Whether a policy has the form of the operator's own: every rule names destinations and ports. */
function isWhole({ ours, spec }: KnownPolicy): boolean {
  return (
    ours &&
    concernsEgress(spec) &&
    spec.podSelector?.matchExpressions === undefined &&
    (spec.egress ?? []).every(isBounded)
  );
}

function isBounded({ to = [], ports = [] }: ObservedRule): boolean {
  return (
    to.length > 0 &&
    ports.length > 0 &&
    ports.every(({ port }) => port !== undefined) &&
    to.every(
      ({ ipBlock, namespaceSelector, podSelector }) =>
        ipBlock !== undefined || (namespaceSelector?.matchLabels && podSelector?.matchLabels) !== undefined,
    )
  );
}

/** As a generated policy; `isWhole` has checked the form. */
function asMade({ namespace, name, labels, spec }: KnownPolicy): NetworkPolicy {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name, namespace, labels },
    spec: {
      podSelector: { matchLabels: spec.podSelector?.matchLabels ?? {} },
      policyTypes: ['Egress'],
      egress: (spec.egress ?? []) as readonly EgressRule[],
    },
  };
}
