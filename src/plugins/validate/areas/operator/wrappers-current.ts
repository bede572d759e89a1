import { counted } from '../../../../core/counted.ts';
import { capped } from '../../cluster/capped.ts';
import { operatorOf } from '../../cluster/operator.ts';
import { protectedPodsOf } from '../../cluster/protected-pods.ts';
import type { Check } from '../../contract.ts';
import { notEvaluated, skipped, verdict } from '../../results.ts';

export const wrappersCurrent: Check = {
  ...{ id: 'SVC-OPERATOR-016', area: 'operator', level: 'warning', needs: 'cluster', timeoutMs: 60_000 },
  title: 'Protected pods have the wrapper that the operator gives now',
  cause: 'The operator was upgraded after they were made.',
  fix: 'Make them anew: kubectl rollout restart.',
  async run(context) {
    const [operator, { labelled }] = await Promise.all([operatorOf(context), protectedPodsOf(context)]);
    if (operator === undefined) return skipped('The operator is not installed');
    const current = operator.env['SVC_WRAPPER_IMAGE'];
    if (current === undefined)
      return notEvaluated('The operator does not say which image its wrapper is from');
    const known = labelled.filter(({ wrapperImage }) => wrapperImage !== undefined);
    if (known.length === 0) return skipped('No protected pod has the wrapper from an image');
    const failures = known
      .filter(({ wrapperImage }) => wrapperImage !== current)
      .map(({ key, wrapperImage }) => ({
        subject: key,
        message: `Its wrapper is from ${wrapperImage}, now it is from ${current}.`,
      }));
    return verdict(capped(failures), counted(known.length, 'pod'));
  },
};
