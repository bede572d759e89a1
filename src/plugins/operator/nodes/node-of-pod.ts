import type { KubeClient } from '../../../runtime/kube/client.ts';
import { hasCode } from '../../../runtime/kube/errors.ts';
import { Refusal } from './refusal.ts';
import type { TokenOwner } from './token-review.ts';

export interface NodeOfPodOptions extends Pick<TokenOwner, 'pod' | 'podUid'> {
  readonly namespace: string;
  readonly signal: AbortSignal;
}

interface PodObject {
  readonly metadata: { readonly uid?: string };
  readonly spec?: { readonly nodeName?: string };
}

/**
 * Where the pod of a token runs, for API servers whose answer does not hold it.
 * @throws Refusal UNAUTHENTICATED where that pod is gone or runs nowhere; KubeError when the API server does not say
 */
export async function nodeOfPod(
  client: KubeClient,
  { pod, podUid, namespace, signal }: NodeOfPodOptions,
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/pods/${encodeURIComponent(pod)}`;
  const found = await client.request<PodObject>({ path, timeoutMs: 5_000, signal }).catch(absent);
  const node = found?.metadata.uid === podUid ? found.spec?.nodeName : undefined;
  if (!node) throw new Refusal('UNAUTHENTICATED', 'the pod of the token runs on no node');
  return node;
}

function absent(error: unknown): undefined {
  if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
}
