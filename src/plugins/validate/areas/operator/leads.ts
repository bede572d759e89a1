import { leaderOf } from '../../cluster/leader.ts';
import { operatorOf } from '../../cluster/operator.ts';
import type { Check } from '../../contract.ts';
import { failed, passed, skipped } from '../../results.ts';

export const leads: Check = {
  ...{ id: 'SVC-OPERATOR-002', area: 'operator', level: 'error', needs: 'cluster' },
  title: 'A replica of the operator leads, and keeps policies, statuses and certificates',
  cause:
    'No replica can write its lease: it does not run, is cut off from the API server, or lacks the role.',
  fix: 'Look for leader.* in the log of the operator, and check the Role svc-operator in its namespace.',
  async run(context) {
    const [operator, leader] = await Promise.all([operatorOf(context), leaderOf(context)]);
    if (operator === undefined) return skipped('The operator is not installed');
    const subject = `${operator.namespace}/${operator.name}`;
    if (leader === undefined) return failed({ subject, message: 'There is no lease svc-operator.' });
    if (leader.holder === '') return failed({ subject, message: 'Nobody holds the lease.' });
    if (leader.fresh) return passed(leader.holder);
    const message = `The lease of ${leader.holder} was last renewed at ${leader.renewTime || 'no time'}.`;
    return failed({ subject, message });
  },
};
