import { readLease, seemsHeld } from '../../../runtime/kube/lease.ts';
import type { CheckContext } from '../contract.ts';
import { NotEvaluated } from '../not-evaluated.ts';
import { shared } from '../shared.ts';
import { askPod } from './ask-pod.ts';
import { operatorName, operatorOf } from './operator.ts';
import { problemOf } from './pod-answer.ts';
import { ownPodsOf, type SeenPod } from './pods.ts';
import { getObject } from './read.ts';

export interface Leader {
  /** Empty where nobody leads. */
  readonly holder: string;
  readonly renewTime: string;
  /** It was renewed lately. */
  readonly fresh: boolean;
}

/** Undefined where there is no lease. @throws NotEvaluated */
export const leaderOf = shared(async (context): Promise<Leader | undefined> => {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${context.config.operatorNamespace}/leases/${operatorName}`;
  const lease = await getObject<unknown>(context, path);
  if (lease === undefined) return undefined;
  const { record } = readLease(lease);
  const { holder, renewTime } = record;
  return { holder, renewTime, fresh: seemsHeld(record, context.now()) };
});

/** The operator's metrics, of the replica that leads. @throws NotEvaluated where they cannot be had */
export const operatorMetrics = shared(async (context): Promise<string> => {
  const pod = await leadingPod(context);
  const answer = await askPod(context, pod, pod.ports['metrics'] ?? 8080, 'metrics');
  if (answer.kind === 'ok') return answer.text;
  throw new NotEvaluated(`The operator's pod ${pod.key} does not give its metrics: ${problemOf(answer)}`);
});

async function leadingPod(context: CheckContext): Promise<SeenPod> {
  if ((await operatorOf(context)) === undefined)
    throw new NotEvaluated(`There is no operator in ${context.config.operatorNamespace}`);
  const leader = await leaderOf(context);
  const pods = (await ownPodsOf(context)).filter(
    ({ pod, running }) => running && pod.metadata.labels?.['app.kubernetes.io/name'] === operatorName,
  );
  const found = leader ? pods.find(({ name }) => leader.holder.startsWith(`${name}_`)) : pods[0];
  if (found !== undefined) return found;
  throw new NotEvaluated('No pod of the operator leads, so that nobody can be asked');
}
