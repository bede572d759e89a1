import { X509Certificate } from 'node:crypto';
import { validityOf } from '../../../../runtime/tls/inspect.ts';
import { certificatesIn } from '../../../../runtime/tls/pem.ts';
import { annotatedPod } from '../../cluster/annotated-pod.ts';
import { type SeenWebhook, webhooksOf } from '../../cluster/webhooks.ts';
import type { Check, CheckFailure } from '../../contract.ts';
import { failed, skipped, verdict, verdictOnPart } from '../../results.ts';

/** An authority of the operator's own is replaced when two thirds of its life are over. */
const nearShare = 1 / 10;

export const webhookBundle: Check = {
  ...{ id: 'SVC-OPERATOR-010', area: 'operator', level: 'error', needs: 'cluster', timeoutMs: 40_000 },
  title: "The webhook's CA bundle is valid, and its certificate comes from it",
  cause:
    'The operator has not written the bundle yet or may not, somebody replaced it, or the certificate of operator.webhook.certSecret comes from another authority.',
  fix: 'See webhook.bundle in the log of the operator, and that it may get and patch the configuration; put the authority into ca.crt of certSecret.',
  async run(context) {
    const webhooks = await webhooksOf(context);
    if (webhooks === undefined || webhooks.length === 0) return skipped('There is no webhook configuration');
    const failures = webhooks.flatMap((entry) => problemOf(entry, context.now()));
    if (failures.some(({ level }) => level === undefined)) return failed(...failures);
    const tried = await annotatedPod(context);
    if (tried.kind === 'untrusted')
      return failed({ subject: 'svc-operator', message: `${tried.because}.` }, ...failures);
    if (tried.kind === 'unanswered' && failures.length === 0)
      return skipped('The webhook does not answer, so that it shows no certificate');
    // nobody was asked, or under failurePolicy Ignore nobody heard that the certificate is another
    if (tried.kind === 'bare')
      return verdictOnPart(
        failures,
        'The webhook lets a pod pass that it has to change, so that it shows no certificate',
      );
    return verdict(failures);
  },
};

function problemOf({ name, clientConfig = {} }: SeenWebhook, now: number): readonly CheckFailure[] {
  const { caBundle = '' } = clientConfig;
  if (caBundle === '') return [{ subject: name, message: 'It has no CA bundle.' }];
  const certificates = certificatesOf(caBundle);
  if (certificates === undefined || certificates.length === 0)
    return [{ subject: name, message: 'Its CA bundle cannot be read.' }];
  const last = certificates.map(validityOf).reduce((best, one) => (one.to > best.to ? one : best));
  const end = new Date(last.to).toISOString();
  if (now >= last.to) return [{ subject: name, message: `Its CA bundle expired at ${end}.` }];
  if ((last.to - now) / (last.to - last.from) >= nearShare) return [];
  return [{ subject: name, message: `Its CA bundle expires at ${end}.`, level: 'warning' }];
}

/** Undefined where one cannot be read: the API server would take none of them then. */
function certificatesOf(caBundle: string): readonly X509Certificate[] | undefined {
  try {
    return certificatesIn(Buffer.from(caBundle, 'base64').toString()).map((pem) => new X509Certificate(pem));
  } catch {
    return undefined;
  }
}
