import type { KubeClient } from '../../../runtime/kube/client.ts';
import { Refusal } from './refusal.ts';

/** The chart's service account of the agents. */
const account = 'svc-ebpf';
/** What the agents' tokens are for: one for the API server, which others see too, is none of them. */
const audience = 'svc-operator';
const extra = 'authentication.kubernetes.io';

/** The pod that a token is bound to. */
export interface TokenOwner {
  /** Undefined before Kubernetes 1.30, which does not say. */
  readonly node: string | undefined;
  readonly pod: string;
  readonly podUid: string;
}

export interface TokenReviewOptions {
  readonly token: string;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly audiences?: readonly string[];
    readonly user?: {
      readonly username?: string;
      readonly extra?: Readonly<Record<string, readonly string[]>>;
    };
  };
}

/**
 * Which agent's pod a token is bound to; the API server says no once the pod is gone.
 * @throws Refusal UNAUTHENTICATED unless it is one of an agent; KubeError when the API server does not say
 */
export async function reviewToken(
  client: KubeClient,
  { token, namespace, signal }: TokenReviewOptions,
): Promise<TokenOwner> {
  const { status = {} } = await client.request<TokenReview>({
    ...{ method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews', timeoutMs: 5_000, signal },
    body: {
      ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' },
      spec: { token, audiences: [audience] },
    },
  });
  const { authenticated, audiences = [], user = {} } = status;
  if (authenticated !== true) throw refused('the API server does not accept the token');
  if (!audiences.includes(audience)) throw refused(`the token is not for ${audience}`);
  if (user.username !== `system:serviceaccount:${namespace}:${account}`)
    throw refused(`the token is not of the service account ${namespace}/${account}`);
  const [node, pod, podUid] = ['node-name', 'pod-name', 'pod-uid'].map(
    (name) => user.extra?.[`${extra}/${name}`]?.[0],
  );
  if (!pod || !podUid) throw refused('the token is bound to no pod');
  return { node: node === '' ? undefined : node, pod, podUid };
}

const refused = (message: string): Refusal => new Refusal('UNAUTHENTICATED', message);
