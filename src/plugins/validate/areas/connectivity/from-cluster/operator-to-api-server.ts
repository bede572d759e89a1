import { leaderOf } from '../../../cluster/leader.ts';
import { operatorOf } from '../../../cluster/operator.ts';
import type { Check } from '../../../contract.ts';
import { failed, passed, skipped } from '../../../results.ts';

export const operatorToApiServer: Check = {
  ...{ id: 'SVC-NET-002', area: 'connectivity', level: 'error', needs: 'cluster' },
  title: 'The operator reaches the API server (it renews its lease, or is ready)',
  cause: 'networkPolicy.apiServer of the chart names other addresses or ports than those of the API server.',
  fix: 'Give the addresses and ports of kubectl get endpointslices kubernetes to networkPolicy.apiServer.',
  async run(context) {
    const [operator, leader] = await Promise.all([operatorOf(context), leaderOf(context)]);
    if (operator === undefined) return skipped('The operator is not installed');
    // without having listed the cluster a replica is not ready
    if (leader === undefined ? operator.ready > 0 : leader.fresh) return passed();
    const message =
      leader === undefined
        ? 'No replica is ready, and none has written a lease.'
        : `No replica has renewed the lease since ${leader.renewTime || 'it was made'}.`;
    return failed({ subject: `${operator.namespace}/${operator.name}`, message });
  },
};
