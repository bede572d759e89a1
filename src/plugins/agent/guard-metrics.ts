import { tierNames } from '../../core/protection/tier.ts';
import type { Metrics } from '../../runtime/health/metrics.ts';
import type { GuardStatus } from './guard/contract.ts';
import type { Tallies } from './guard/tallies.ts';

export interface GuardMetrics {
  status(status: GuardStatus): void;
  tallies(tallies: Tallies): void;
  canary(failed: boolean): void;
  processes(count: number): void;
}

export function createGuardMetrics(metrics: Metrics): GuardMetrics {
  const tier = metrics.gauge('svc_agent_tier', '1 for the tier in force, 0 for the others', ['tier']);
  const enforcing = metrics.gauge(
    'svc_agent_enforcing',
    '1 while attempts are denied, or their processes killed',
  );
  const processes = metrics.gauge(
    'svc_agent_protected_processes',
    'Processes that registered or inherited it; those that only their pod covers are not counted',
  );
  const canaries = metrics.counter('svc_agent_canary_total', 'Attempts on the agent’s own decoy', ['result']);
  const lost = metrics.counter('svc_agent_lost_total', 'What the tables in the kernel had no room for', [
    'what',
  ]);
  const known = new Map<string, number>();
  return {
    status(status) {
      for (const [number, name] of Object.entries(tierNames)) {
        tier.set(Number(number) === status.tier ? 1 : 0, { tier: name });
      }
      enforcing.set(status.enforcing ? 1 : 0);
    },
    tallies(tallies) {
      for (const what of ['hits', 'processes', 'openings'] as const) {
        const total = tallies[`${what}_lost`];
        lost.inc({ what }, Math.max(0, total - (known.get(what) ?? 0)));
        known.set(what, total);
      }
    },
    canary: (failed) => canaries.inc({ result: failed ? 'failed' : 'passed' }),
    processes: (count) => processes.set(count),
  };
}
