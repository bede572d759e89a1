import { counted } from '../../../../core/counted.ts';
import { operatorOf } from '../../cluster/operator.ts';
import type { Check } from '../../contract.ts';
import { failed, passed, skipped } from '../../results.ts';

export const replicas: Check = {
  ...{ id: 'SVC-OPERATOR-003', area: 'operator', level: 'info', needs: 'cluster' },
  title: 'The operator runs in three replicas',
  cause: 'Without high availability no protected pod can start while the only replica is moved or upgraded.',
  fix: 'Set operator.ha=true in the chart where pods have to start at any time.',
  async run(context) {
    const operator = await operatorOf(context);
    if (operator === undefined) return skipped('The operator is not installed');
    const { wanted, namespace, name } = operator;
    if (wanted >= 3) return passed(counted(wanted, 'replica'));
    return failed({ subject: `${namespace}/${name}`, message: `It has ${wanted} of them.` });
  },
};
