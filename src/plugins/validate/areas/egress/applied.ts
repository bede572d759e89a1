import { counted } from '../../../../core/counted.ts';
import { capped } from '../../cluster/capped.ts';
import { egressOf } from '../../cluster/wanted-egress.ts';
import type { Check } from '../../contract.ts';
import { skipped, verdict } from '../../results.ts';
import { policyProblems } from './policy-problems.ts';
import { onTrust } from './trusted-names.ts';

export const applied: Check = {
  ...{ id: 'SVC-EGRESS-001', area: 'egress', level: 'error', needs: 'cluster', timeoutMs: 90_000 },
  title: 'Every namespace with protected pods has the egress policies that svc netpol would write',
  cause:
    'The operator does not run or may not write policies, somebody changed one, or another one of that name stands in its way. Other addresses of a name than DNS gives here are a warning; where it gives none, or some of them, those that the policies name are believed, and the result names them.',
  fix: 'See egress.* in the log of the operator; or apply the output of svc netpol.',
  async run(context) {
    const all = await egressOf(context);
    if (all.length === 0) return skipped('No namespace has protected pods or ServiceConfigs');
    return verdict(capped(all.flatMap(policyProblems)), counted(all.length, 'namespace'), onTrust(all));
  },
};
