import { counted } from '../../../../core/counted.ts';
import { wideningPolicies } from '../../../../core/egress/widening.ts';
import { capped } from '../../cluster/capped.ts';
import { type EgressOf, egressOf } from '../../cluster/wanted-egress.ts';
import type { Check, CheckFailure } from '../../contract.ts';
import { skipped, verdict } from '../../results.ts';

export const notWidened: Check = {
  ...{ id: 'SVC-EGRESS-002', area: 'egress', level: 'error', needs: 'cluster', timeoutMs: 90_000 },
  title: 'No other policy lets protected pods reach more',
  cause: 'Policies add up: whatever any policy of the namespace allows to a pod is allowed.',
  fix: 'Name what the pods need in ServiceConfig.spec.egress, and narrow the podSelector or the rules of that policy.',
  async run(context) {
    const all = (await egressOf(context)).filter(({ pods }) => pods.length > 0);
    if (all.length === 0) return skipped('No namespace has protected pods');
    return verdict(capped(all.flatMap(widenedBy)), counted(all.length, 'namespace'));
  },
};

function widenedBy({ namespace, pods, asNoted, policies }: EgressOf): readonly CheckFailure[] {
  const names = asNoted.map(({ metadata }) => metadata.name);
  const labels = new Set(pods.map(({ pod }) => pod.metadata.labels ?? {}));
  const others = policies.filter(({ name }) => !names.includes(name));
  return wideningPolicies({ ours: asNoted, others, pods: [...labels] }).map((name) => ({
    subject: `${namespace}/${name}`,
    message: 'It lets protected pods reach more than their egress policy does.',
  }));
}
