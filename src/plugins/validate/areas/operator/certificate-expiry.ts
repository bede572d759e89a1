import { operatorMetrics } from '../../cluster/leader.ts';
import { samplesOf } from '../../cluster/metrics-text.ts';
import { operatorOf } from '../../cluster/operator.ts';
import type { Check } from '../../contract.ts';
import { failed, notEvaluated, passed, skipped } from '../../results.ts';

const nearMs = 7 * 86_400_000;

export const certificateExpiry: Check = {
  ...{ id: 'SVC-OPERATOR-011', area: 'operator', level: 'error', needs: 'cluster' },
  title: "The operator's certificate is valid for a week or more",
  cause: 'The operator cannot renew it, or the one of operator.webhook.certSecret was not renewed.',
  fix: 'See certificates.* in the log of the operator, or renew the certificate of certSecret.',
  async run(context) {
    if ((await operatorOf(context)) === undefined) return skipped('The operator is not installed');
    const [sample] = samplesOf(await operatorMetrics(context), 'svc_certificate_not_after_seconds');
    if (sample === undefined) return notEvaluated('The operator does not tell when its certificate ends');
    const endMs = sample.value * 1_000;
    const end = new Date(endMs).toISOString();
    const subject = `${context.config.operatorNamespace}/svc-operator`;
    if (context.now() >= endMs) return failed({ subject, message: `It expired at ${end}.` });
    if (endMs - context.now() >= nearMs) return passed(`until ${end}`);
    return failed({ subject, message: `It expires at ${end}.`, level: 'warning' });
  },
};
