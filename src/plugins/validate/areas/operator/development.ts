import { operatorOf } from '../../cluster/operator.ts';
import type { Check } from '../../contract.ts';
import { failed, passed, skipped } from '../../results.ts';

export const development: Check = {
  ...{ id: 'SVC-OPERATOR-006', area: 'operator', level: 'error', needs: 'cluster' },
  title: 'The operator does not run in development mode',
  cause: 'operator.development=true lets pods go without verifying the certificate of the secrets server.',
  fix: 'Set operator.development=false in the chart.',
  async run(context) {
    const operator = await operatorOf(context);
    if (operator === undefined) return skipped('The operator is not installed');
    if (operator.env['SVC_OPERATOR_DEVELOPMENT'] !== 'true') return passed();
    return failed({
      subject: `${operator.namespace}/${operator.name}`,
      message: 'SVC_OPERATOR_DEVELOPMENT is true.',
    });
  },
};
