import type { Metrics } from '../../../runtime/health/metrics.ts';
import type { NamespaceState } from './namespace-state.ts';

/** Sums over all namespaces; all 0 while another replica leads. */
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
    "Somebody else's policies that have the name of an egress policy",
  );
  const widening = metrics.gauge(
    'svc_operator_egress_widening_policies',
    'Other policies that let protected pods reach more',
  );
  const warnings = metrics.gauge(
    'svc_operator_egress_warnings',
    'What could not be found out for egress policies, or may change',
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
