import type { Score } from '../../../core/score/contract.ts';
import type { Metrics } from '../../../runtime/health/metrics.ts';

/** `svc_workload_protection_score` and `svc_workload_enforced`, which one replica shows at a time. */
export interface ScoreGauge {
  /** All workloads of a namespace; those that were shown before and are not among them are shown no longer. */
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
    '1 while reads of every pod of a wrapped workload by others are denied on its node, or their readers killed',
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
