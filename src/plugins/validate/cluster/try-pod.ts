import { carriesWrapper } from '../../../core/cluster/protected.ts';
import type { Pod } from '../../../core/kubernetes/pod.ts';
import { KubeError } from '../../../runtime/kube/errors.ts';
import type { CheckContext } from '../contract.ts';
import { NotEvaluated } from '../not-evaluated.ts';
import { send } from './read.ts';

/** What became of a pod that was created in a dry run. */
export type Tried =
  | { readonly kind: 'protected' }
  /** It would have started without the wrapper. */
  | { readonly kind: 'bare' }
  /** The operator refused it. */
  | { readonly kind: 'refused'; readonly because: string }
  /** The API server does not trust the webhook's certificate. */
  | { readonly kind: 'untrusted'; readonly because: string }
  /** It gets no answer from the webhook. */
  | { readonly kind: 'unanswered'; readonly because: string };

export interface Trial {
  readonly namespace: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly containers?: readonly string[];
}

/** Admission takes as long as the webhook's own time-out allows. */
const timeoutMs = 35_000;

/**
 * Has the API server admit a pod without creating it.
 * @throws NotEvaluated where that is not allowed, or somebody else refuses the pod
 */
export async function tryPod(context: CheckContext, trial: Trial): Promise<Tried> {
  const path = `/api/v1/namespaces/${encodeURIComponent(trial.namespace)}/pods`;
  const body = podFor(trial);
  try {
    const request = { method: 'POST', path, query: { dryRun: 'All' }, body, timeoutMs };
    const pod = await send<Pod>(context, request);
    return { kind: carriesWrapper(pod) ? 'protected' : 'bare' };
  } catch (error) {
    if (!(error instanceof KubeError) || error.status === undefined) throw error;
    return refusal(error, trial.namespace);
  }
}

function refusal(error: KubeError, namespace: string): Tried {
  const { message } = error;
  const because = message.replace(/^POST \S+: \d+: /, '');
  if (/admission webhook "[^"]*\.svc\.io" denied/.test(message)) return { kind: 'refused', because };
  if (!/failed calling webhook "[^"]*\.svc\.io"/.test(message))
    throw new NotEvaluated(
      `The API server refuses a pod in ${namespace} for another reason: ${because}`,
      undefined,
      error,
    );
  return { kind: /x509|certificate/.test(message) ? 'untrusted' : 'unanswered', because };
}

/** Admitted at every Pod Security level, and within quotas that want requests and limits. */
function podFor({ labels = {}, annotations = {}, containers = ['application'] }: Trial): object {
  return {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { generateName: 'svc-validate-', labels, annotations } },
    spec: {
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: containers.map((name) => ({
        ...{ name, image: 'svc-validate.invalid/none', command: ['/none'] },
        resources: { requests: modest, limits: modest },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      })),
    },
  };
}

const modest = { cpu: '10m', memory: '16Mi' };
