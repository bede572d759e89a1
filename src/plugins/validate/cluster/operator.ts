import { readLease, seemsHeld } from '../../../cluster/kube/lease.ts';
import type { Container, PodSpec } from '../../../cluster/kube/pod.ts';
import { type CheckContext, NotEvaluated, Skipped, shared } from '../check.ts';
import { checkOf } from '../make-check.ts';
import { askPod, problemOf } from './ask-pod.ts';
import { ownPodsOf, type SeenPod } from './pods.ts';
import { getObject } from './read.ts';

export const operatorName = 'svc-operator';
export const agentName = 'svc-ebpf';

/** A Deployment or DaemonSet of the chart. */
export interface InstalledOperator {
  readonly namespace: string;
  readonly name: string;
  /** Of the release, from the chart's label. */
  readonly version: string | undefined;
  readonly image: string;
  /** Variables with a literal value. */
  readonly env: Readonly<Record<string, string>>;
  readonly priorityClass: string | undefined;
  readonly wanted: number;
  readonly ready: number;
  /** Number of pods of the current template. */
  readonly updated: number;
}

interface Workload {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly replicas?: number;
    readonly template: { readonly spec: PodSpec & { readonly priorityClassName?: string } };
  };
  readonly status?: Readonly<Record<string, number | undefined>>;
}

/** Undefined if the operator is not installed. @throws NotEvaluated */
export const operatorOf = shared((context) =>
  readInstalled(context, 'deployments', operatorName, ({ spec, status = {} }) => ({
    wanted: spec.replicas ?? 1,
    ready: status['readyReplicas'] ?? 0,
    updated: status['updatedReplicas'] ?? 0,
  })),
);

/** For checks of the operator itself. @throws Skipped if there is none */
export function assertInstalled(
  operator: InstalledOperator | undefined,
): asserts operator is InstalledOperator {
  if (operator === undefined) throw new Skipped('The operator is not installed');
}

/** A check of the operator itself. */
export const installedCheck = checkOf('cluster', async (context) => {
  const operator = await operatorOf(context);
  assertInstalled(operator);
  return operator;
});

/** Undefined if the agent is not installed. @throws NotEvaluated */
export const agentsOf = shared((context) =>
  readInstalled(context, 'daemonsets', agentName, ({ status = {} }) => ({
    wanted: status['desiredNumberScheduled'] ?? 0,
    ready: status['numberReady'] ?? 0,
    updated: status['updatedNumberScheduled'] ?? 0,
  })),
);

type Counts = Pick<InstalledOperator, 'wanted' | 'ready' | 'updated'>;

async function readInstalled(
  context: CheckContext,
  plural: string,
  name: string,
  count: (workload: Workload) => Counts,
): Promise<InstalledOperator | undefined> {
  const namespace = context.config.operatorNamespace;
  const path = `/apis/apps/v1/namespaces/${namespace}/${plural}/${name}`;
  const workload = await getObject<Workload>(context, path);
  if (workload === undefined) return undefined;
  const { spec } = workload.spec.template;
  const [container] = spec.containers;
  return {
    namespace,
    name,
    ...count(workload),
    version: workload.metadata.labels?.['app.kubernetes.io/version'],
    image: container?.image ?? '',
    env: valuesOf(container),
    priorityClass: spec.priorityClassName,
  };
}

function valuesOf(container: Container | undefined): Readonly<Record<string, string>> {
  const env = container?.env ?? [];
  return Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
}

export interface Leader {
  /** Empty if no replica leads. */
  readonly holder: string;
  readonly renewTime: string;
  /** Whether the lease was renewed recently. */
  readonly fresh: boolean;
}

/** Undefined if there is no lease. @throws NotEvaluated */
export const leaderOf = shared(async (context): Promise<Leader | undefined> => {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${context.config.operatorNamespace}/leases/${operatorName}`;
  const lease = await getObject<unknown>(context, path);
  if (lease === undefined) return undefined;
  const { record } = readLease(lease);
  const { holder, renewTime } = record;
  return { holder, renewTime, fresh: seemsHeld(record, context.now()) };
});

/** Metrics of the operator's leading replica. @throws NotEvaluated if they are unavailable */
export const operatorMetrics = shared(async (context): Promise<string> => {
  const pod = await leadingPod(context);
  const answer = await askPod(context, pod, pod.ports['metrics'] ?? 8080, 'metrics');
  if (answer.kind === 'ok') return answer.text;
  throw new NotEvaluated(`The operator's pod ${pod.key} does not give its metrics: ${problemOf(answer)}`);
});

async function leadingPod(context: CheckContext): Promise<SeenPod> {
  if ((await operatorOf(context)) === undefined)
    throw new NotEvaluated(`There is no operator in ${context.config.operatorNamespace}`);
  const leader = await leaderOf(context);
  const pods = (await ownPodsOf(context)).filter(
    ({ pod, running }) => running && pod.metadata.labels?.['app.kubernetes.io/name'] === operatorName,
  );
  const found = leader ? pods.find(({ name }) => leader.holder.startsWith(`${name}_`)) : pods[0];
  if (found !== undefined) return found;
  throw new NotEvaluated('No pod of the operator leads, so that nobody can be asked');
}

/** Scheduled pods of the agent. @throws NotEvaluated */
export const agentPodsOf = shared(async (context): Promise<readonly SeenPod[]> => {
  const pods = await ownPodsOf(context);
  return pods.filter(
    ({ node, pod }) => node !== undefined && pod.metadata.labels?.['app.kubernetes.io/name'] === agentName,
  );
});

export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * The samples of one metric from a page of metrics.
 * Source: https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function samplesOf(page: string, metric: string): readonly MetricSample[] {
  return page.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    return name === metric ? [{ labels: labelsIn(labels), value: Number(value) }] : [];
  });
}

function labelsIn(text: string): Readonly<Record<string, string>> {
  const pairs = text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries([...pairs].map(([, name = '', value = '']) => [name, value]));
}

/** Undefined if the page has no sample of the metric. */
export function sumOf(
  page: string,
  metric: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const all = samplesOf(page, metric);
  if (all.length === 0) return undefined;
  const wanted = Object.entries(labels);
  return all
    .filter((sample) => wanted.every(([name, value]) => sample.labels[name] === value))
    .reduce((sum, { value }) => sum + value, 0);
}
