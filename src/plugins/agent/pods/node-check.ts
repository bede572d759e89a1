import type { KubeClient } from '../../../runtime/kube/client.ts';
import { hasCode } from '../../../runtime/kube/errors.ts';
import { acceptMetadata } from '../../../runtime/kube/selection.ts';
import { describeError } from '../../../runtime/logging/describe-error.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { PodWatchState } from './pod-watch-state.ts';

/** A list of the pods of a node that does not exist is empty and no error: a wrong name would never be noticed. */
export async function checkNode(
  client: KubeClient,
  node: string,
  signal: AbortSignal,
  log: Logger,
  state: PodWatchState,
): Promise<void> {
  try {
    const path = `/api/v1/nodes/${encodeURIComponent(node)}`;
    await client.request({ path, accept: acceptMetadata, signal });
    state.nodeKnown(true);
  } catch (error) {
    if (signal.aborted) return;
    if (!hasCode(error, 'KUBE_NOT_FOUND')) {
      return log.warn('pods.node.unchecked', { node, ...describeError(error) });
    }
    log.error('pods.node.unknown', { node, nextStep: 'Set NODE_NAME to spec.nodeName of this pod.' });
    state.nodeKnown(false);
  }
}
