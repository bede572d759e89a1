import { counted } from '../../../../core/counted.ts';
import { operatorOf } from '../../cluster/operator.ts';
import type { Check } from '../../contract.ts';
import { failed, passed } from '../../results.ts';

export const available: Check = {
  ...{ id: 'SVC-OPERATOR-001', area: 'operator', level: 'error', needs: 'cluster' },
  title: 'The operator is installed, and all of its replicas are ready',
  cause:
    'The chart is not installed, or its pods cannot start: images, quotas, taints, or settings of the operator.',
  fix: 'Install the chart, or look at kubectl -n svc-system describe deployment svc-operator and at the log of its pods.',
  async run(context) {
    const subject = `${context.config.operatorNamespace}/svc-operator`;
    const operator = await operatorOf(context);
    if (operator === undefined) return failed({ subject, message: 'There is no such Deployment.' });
    const { ready, wanted, updated } = operator;
    if (ready === 0)
      return failed({ subject, message: 'No replica is ready: pods that ask for protection are refused.' });
    if (ready < wanted || updated < wanted) {
      const message = `Of ${wanted} replicas ${ready} are ready and ${updated} are of its current template.`;
      return failed({ subject, message, level: 'warning' });
    }
    return passed(counted(wanted, 'replica'));
  },
};
