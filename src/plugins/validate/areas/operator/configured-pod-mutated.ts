import type { KnownServiceConfig } from '../../../../core/cluster/known.ts';
import { concurrently } from '../../../../runtime/lifecycle/concurrently.ts';
import { serviceConfigsOf } from '../../cluster/objects.ts';
import { tryPod } from '../../cluster/try-pod.ts';
import type { Check, CheckContext, CheckFailure } from '../../contract.ts';
import { NotEvaluated } from '../../not-evaluated.ts';
import { skipped, verdict, verdictOnPart } from '../../results.ts';

/** Each costs a review. */
const most = 50;

export const configuredPodMutated: Check = {
  ...{ id: 'SVC-OPERATOR-019', area: 'operator', level: 'error', needs: 'cluster', timeoutMs: 60_000 },
  title: 'A pod that a ServiceConfig selects is never left bare (measured by dry runs, nothing is created)',
  cause:
    'The namespace has not got the label svc/protected=true, the webhook leaves it out, or the operator does not know the ServiceConfig yet.',
  fix: 'Look at the conditions of the ServiceConfig and at the selectors of the webhook configuration.',
  async run(context) {
    const configs = ((await serviceConfigsOf(context)) ?? []).filter(isTried);
    if (configs.length === 0) return skipped('There are no ServiceConfigs that select by plain labels');
    const found = await concurrently(configs.slice(0, most), 4, (config) => tried(context, config));
    const failures = found.flatMap(({ failure }) => failure ?? []);
    const obstacles = found.flatMap(({ obstacle }) => obstacle ?? []);
    const [first] = obstacles;
    if (first === undefined) return verdict(failures, `${found.length} of ${configs.length} ServiceConfigs`);
    const reason = `${obstacles.length} of ${found.length} ServiceConfigs could not be tried: ${first.message}`;
    return verdictOnPart(failures, reason, first.permission);
  },
};

const isTried = ({ spec }: KnownServiceConfig) => (spec.selector.matchExpressions ?? []).length === 0;

interface Tried {
  readonly failure?: CheckFailure;
  /** Why it could not be tried: a quota or a policy of somebody else's in that namespace. */
  readonly obstacle?: NotEvaluated;
}

/** One that lacks what each pod has to add is refused, which protects, too. */
async function tried(context: CheckContext, { namespace, name, spec }: KnownServiceConfig): Promise<Tried> {
  try {
    const { kind } = await tryPod(context, {
      ...{ namespace, labels: spec.selector.matchLabels ?? {} },
      ...(spec.containers && { containers: spec.containers }),
    });
    if (kind !== 'bare') return {};
    const message = 'A pod that it selects would start without the wrapper.';
    return { failure: { subject: `${namespace}/${name}`, message } };
  } catch (error) {
    if (error instanceof NotEvaluated) return { obstacle: error };
    throw error;
  }
}
