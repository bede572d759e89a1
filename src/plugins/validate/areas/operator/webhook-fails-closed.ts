import { webhooksOf } from '../../cluster/webhooks.ts';
import type { Check } from '../../contract.ts';
import { skipped, verdict } from '../../results.ts';

export const webhookFailsClosed: Check = {
  ...{ id: 'SVC-OPERATOR-008', area: 'operator', level: 'error', needs: 'cluster' },
  title: 'Pods are refused while the webhook cannot be reached (failurePolicy Fail)',
  cause:
    'With failurePolicy Ignore pods start unprotected, with whatever they ask for, while no operator answers.',
  fix: 'Set operator.webhook.failurePolicy=Fail, and apply the chart again.',
  async run(context) {
    const webhooks = await webhooksOf(context);
    if (webhooks === undefined || webhooks.length === 0) return skipped('There is no webhook configuration');
    const open = webhooks.filter(({ failurePolicy = 'Fail' }) => failurePolicy !== 'Fail');
    return verdict(
      open.map(({ name, failurePolicy }) => ({
        subject: name,
        message: `Its failurePolicy is ${failurePolicy}.`,
      })),
    );
  },
};
