import { counted } from '../../../../runtime/units.ts';
import { type Check, skipped, verdict } from '../../check.ts';
import { capped } from '../../cluster/read.ts';
import { clusterCheck } from '../../make-check.ts';
import { enforced } from './enforced.ts';
import { namesListed, onTrust } from './names.ts';
import { plugin } from './network-plugin.ts';
import { egressOf, policyProblems, widenedBy } from './policies.ts';

const applied = clusterCheck('SVC-EGRESS-001', 'error', {
  timeoutMs: 90_000,
  title: 'Every namespace with protected pods has the egress policies that svc netpol would write',
  cause:
    'The operator does not run or may not write policies, somebody changed one, or another object has the name of one. If a policy lists addresses other than those that DNS returns here, that is a warning. If DNS returns none of them here, or only some, the addresses in the policies count, and the result names them.',
  fix: 'See egress.* in the log of the operator; or apply the output of svc netpol.',
  async run(context) {
    const all = await egressOf(context);
    if (all.length === 0) return skipped('No namespace has protected pods or ServiceConfigs');
    return verdict(capped(all.flatMap(policyProblems)), counted(all.length, 'namespace'), onTrust(all));
  },
});

const notWidened = clusterCheck('SVC-EGRESS-002', 'error', {
  timeoutMs: 90_000,
  title: 'No other policy lets protected pods reach more',
  cause: 'Policies are additive: a pod may do whatever any policy of the namespace permits.',
  fix: 'Name what the pods need in ServiceConfig.spec.egress, and narrow the podSelector or the rules of that policy.',
  async run(context) {
    const all = (await egressOf(context)).filter(({ pods }) => pods.length > 0);
    if (all.length === 0) return skipped('No namespace has protected pods');
    return verdict(capped(all.flatMap(widenedBy)), counted(all.length, 'namespace'));
  },
});

export const egressChecks: readonly Check[] = [applied, notWidened, plugin, enforced, namesListed];
