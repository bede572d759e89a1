import { operatorOf } from '../../cluster/operator.ts';
import { getObject } from '../../cluster/read.ts';
import { egressOf } from '../../cluster/wanted-egress.ts';
import type { Check, CheckContext, CheckResult } from '../../contract.ts';
import { failed, notEvaluated, passed, skipped } from '../../results.ts';
import type { Target } from './probe/probe-pod.ts';
import { runProbe } from './probe/run-probe.ts';

export const enforced: Check = {
  ...{ id: 'SVC-EGRESS-004', area: 'egress', level: 'error', needs: 'cluster', timeoutMs: 180_000 },
  undoMs: 12_000,
  title: 'A protected pod cannot connect to what its policy does not allow (measured with --probe-pods)',
  cause:
    "No network plugin enforces the policy. Two pods with the proxy's image try the operator's metrics in turn, one under the policy and one that is not; they are removed again.",
  fix: 'Install or switch on a network plugin that enforces network policies, then look at SVC-EGRESS-001 and SVC-EGRESS-002.',
  async run(context, signal) {
    if (!context.config.probePods) return skipped('It needs pods of its own, which --probe-pods allows');
    const [operator, all] = await Promise.all([operatorOf(context), egressOf(context)]);
    const place = all.find(({ pods }) => pods.length > 0) ?? all[0];
    const image = operator?.env['SVC_PROXY_IMAGE'];
    if (place === undefined || image === undefined)
      return skipped('There is no operator, or no namespace with protected pods');
    const target = await forbidden(context);
    if (target === undefined) return notEvaluated('The Service svc-operator-metrics has no address to try');
    return measured(context, place.namespace, { image, target }, signal);
  },
};

/** What every pod can reach that no egress policy holds back: the operator admits it from all namespaces. */
async function forbidden(context: CheckContext): Promise<Target | undefined> {
  const path = `/api/v1/namespaces/${context.config.operatorNamespace}/services/svc-operator-metrics`;
  const service = await getObject<{ readonly spec?: { readonly clusterIP?: string } }>(context, path);
  const { clusterIP = 'None' } = service?.spec ?? {};
  return clusterIP === 'None' ? undefined : { host: clusterIP, port: 8080 };
}

async function measured(
  context: CheckContext,
  namespace: string,
  given: { readonly image: string; readonly target: Target },
  signal: AbortSignal,
): Promise<CheckResult> {
  const free = await runProbe(context, namespace, { ...given, covered: false }, signal);
  if (free === 'silent')
    return notEvaluated(
      `A pod of ${namespace} that is under no policy of svc does not reach ${given.target.host} either`,
    );
  const covered = await runProbe(context, namespace, { ...given, covered: true }, signal);
  if (covered === 'silent') return passed(namespace);
  const { host, port } = given.target;
  return failed({
    subject: namespace,
    message: `A protected pod reaches ${host} on port ${port}, which is not allowed to it.`,
  });
}
