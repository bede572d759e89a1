import { shared } from '../shared.ts';
import { agentName } from './operator.ts';
import { ownPodsOf, type SeenPod } from './pods.ts';

/** Pods of the agent that are on a node. @throws NotEvaluated */
export const agentPodsOf = shared(async (context): Promise<readonly SeenPod[]> => {
  const pods = await ownPodsOf(context);
  return pods.filter(
    ({ node, pod }) => node !== undefined && pod.metadata.labels?.['app.kubernetes.io/name'] === agentName,
  );
});
