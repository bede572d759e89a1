import type { SeenPod } from '../../../cluster/pods.ts';
import { protectedPodsOf } from '../../../cluster/protected-pods.ts';
import type { CheckContext } from '../../../contract.ts';

/** Pods whose proxy can be asked. @throws NotEvaluated */
export async function proxiesOf(context: CheckContext): Promise<readonly SeenPod[]> {
  const { labelled } = await protectedPodsOf(context);
  return labelled.filter(({ running, proxyPort }) => running && proxyPort !== undefined);
}
