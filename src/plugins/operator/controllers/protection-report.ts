import { createHash } from 'node:crypto';
import { apply, applyStatus, type KubeClient, readObject, unless } from '../../../cluster/kube/client.ts';
import { managedBy } from '../../../cluster/kube/labels.ts';
import {
  type NodeReportEntry,
  type ProtectionReportStatus,
  reportName,
  type WorkloadReport,
} from '../../../cluster/resources/protection-report.ts';
import { apiVersion } from '../../../cluster/resources/resources.ts';
import type { Score } from '../../../cluster/score/contract.ts';
import type { Metrics } from '../../../runtime/health/health.ts';
import { isSameStatus } from './status.ts';

/** The reports as the API server has them. */
export interface ReportStore {
  /**
   * Writes the report unless the API server has it already.
   * @param status undefined deletes the report
   * @throws KubeError
   */
  keep(namespace: string, status: ProtectionReportStatus | undefined, signal: AbortSignal): Promise<void>;
  /** Called when the namespace is gone, and its report with it. */
  forget(namespace: string): void;
  /** Called when another replica may have written reports. */
  forgetAll(): void;
}

const kind = 'ProtectionReport';
const nothing = 'none';

/** Reads a stored report only once per `trustMs`, because nobody else writes reports. */
export function createReportStore(client: KubeClient, trustMs: number): ReportStore {
  const known = new Map<string, { readonly digest: string; readonly until: number }>();
  return {
    async keep(namespace, status, signal) {
      const digest = status === undefined ? nothing : digestOf(status);
      const last = known.get(namespace);
      if (last?.digest === digest && performance.now() < last.until) return;
      known.delete(namespace);
      await write(client, namespace, status, signal);
      if (!signal.aborted) known.set(namespace, { digest, until: performance.now() + trustMs });
    },
    forget: (namespace) => void known.delete(namespace),
    forgetAll: () => known.clear(),
  };
}

async function write(
  client: KubeClient,
  namespace: string,
  status: ProtectionReportStatus | undefined,
  signal: AbortSignal,
): Promise<void> {
  const path = `/apis/${apiVersion}/namespaces/${namespace}/protectionreports/${reportName}`;
  const found = await readObject<{ status?: object }>(client, path, signal);
  if (status === undefined) {
    if (found !== undefined)
      await unless(client.request({ method: 'DELETE', path, signal }), 'KUBE_NOT_FOUND');
    return;
  }
  if (found?.status !== undefined && isSameStatus(found.status, status)) return;
  const identity = { apiVersion, kind, metadata: { name: reportName, namespace } };
  if (found === undefined) {
    const object = { ...identity, metadata: { ...identity.metadata, labels: managedBy } };
    await apply(client, { path, object, signal });
  }
  await applyStatus(client, { path, object: { ...identity, status }, signal });
}

/** Kept instead of the statuses themselves, which would take too much memory. */
function digestOf(status: ProtectionReportStatus): string {
  return createHash('sha256').update(JSON.stringify(status)).digest('base64');
}

/** Limit of workloads, and also of nodes. */
const mostItems = 500;
/** The API server stores at most 1.5 MiB of an object. */
const mostBytes = { workloads: 700_000, nodes: 300_000 };

/**
 * The status of a namespace's report. If not everything fits, it has the workloads with the lowest scores and the nodes
 * that protect least.
 * @param scores at least one
 */
export function reportStatus(
  scores: readonly Score[],
  nodes: readonly NodeReportEntry[] = [],
): ProtectionReportStatus {
  const lowestFirst = [...scores].sort((a, b) => a.score - b.score || byName(a, b));
  const told = fitting(lowestFirst.map(workloadReport), mostBytes.workloads);
  const toldNodes = fitting([...nodes].sort(weakestFirst), mostBytes.nodes);
  return {
    summary: {
      workloads: scores.length,
      protected: scores.filter((score) => score.protected).length,
      lowestScore: lowestFirst[0]?.score ?? 0,
      leftOut: scores.length - told.length,
      ...(toldNodes.length < nodes.length && { nodesLeftOut: nodes.length - toldNodes.length }),
    },
    workloads: told.sort(byName),
    nodes: toldNodes.sort((a, b) => compare(a.name, b.name)),
  };
}

function workloadReport({ kind, name, score, pods, addends, findings }: Score): WorkloadReport {
  return { kind, name, score, pods, addends, findings };
}

/** As many items from the start as fit. */
function fitting<T>(items: readonly T[], most: number): T[] {
  let bytes = 0;
  const tooLong = items.findIndex((item) => {
    bytes += Buffer.byteLength(JSON.stringify(item));
    return bytes > most;
  });
  return items.slice(0, Math.min(mostItems, tooLong < 0 ? mostItems : tooLong));
}

function weakestFirst(a: NodeReportEntry, b: NodeReportEntry): number {
  return Number(a.enforcing) - Number(b.enforcing) || b.tier - a.tier || compare(a.name, b.name);
}

interface Named {
  readonly kind: string;
  readonly name: string;
}

const byName = (a: Named, b: Named): number => compare(a.kind, b.kind) || compare(a.name, b.name);

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** `svc_workload_protection_score` and `svc_workload_enforced`, which one replica exports at a time. */
export interface ScoreGauge {
  /** Takes all workloads of a namespace; series of workloads that are not among them are removed. */
  show(namespace: string, scores: readonly Score[]): void;
  clear(): void;
}

interface Labels extends Readonly<Record<string, string>> {
  readonly namespace: string;
  readonly kind: string;
  readonly workload: string;
}

export function createScoreGauge(metrics: Metrics): ScoreGauge {
  const gauge = metrics.gauge(
    'svc_workload_protection_score',
    'Protection score of a workload that has pods, from 0 to 100',
    ['namespace', 'kind', 'workload'],
  );
  const enforced = metrics.gauge(
    'svc_workload_enforced',
    '1 while, for every pod of a wrapped workload, reads by others are denied or the readers killed',
    ['namespace', 'kind', 'workload'],
  );
  const remove = (labels: Labels) => {
    gauge.remove(labels);
    enforced.remove(labels);
  };
  const shown = new Map<string, ReadonlyMap<string, Labels>>();
  const show: ScoreGauge['show'] = (namespace, scores) => {
    const now = new Map<string, Labels>();
    for (const { kind, name: workload, score, pods, ...is } of scores) {
      if (pods === 0) continue;
      const labels = { namespace, kind, workload };
      now.set(`${kind}/${workload}`, labels);
      gauge.set(score, labels);
      if (is.protected) enforced.set(is.enforced ? 1 : 0, labels);
      else enforced.remove(labels);
    }
    for (const [key, labels] of shown.get(namespace) ?? []) if (!now.has(key)) remove(labels);
    if (now.size > 0) shown.set(namespace, now);
    else shown.delete(namespace);
  };
  return {
    show,
    clear() {
      for (const namespace of [...shown.keys()]) show(namespace, []);
    },
  };
}
