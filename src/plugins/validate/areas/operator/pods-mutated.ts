import { carriesWrapper } from '../../../../cluster/injection/protected-pods.ts';
import { KubeError } from '../../../../cluster/kube/client.ts';
import type { KnownServiceConfig } from '../../../../cluster/kube/known-objects.ts';
import type { Pod } from '../../../../cluster/kube/pod.ts';
import { concurrently } from '../../../../runtime/lifecycle/wait.ts';
import {
  type CheckContext,
  type CheckFailure,
  failed,
  NotEvaluated,
  passed,
  shared,
  skipped,
  verdict,
  verdictOnPart,
} from '../../check.ts';
import { send, serviceConfigsOf } from '../../cluster/read.ts';
import { clusterCheck } from '../../make-check.ts';

export const annotatedPodMutated = clusterCheck('SVC-OPERATOR-012', 'error', {
  timeoutMs: 40_000,
  title: 'A pod that asks for protection gets it (measured by a dry run, nothing is created)',
  cause:
    'The webhook configuration is missing or changed, no replica of the operator answers, a network policy or firewall lies between the API server and port 9443, or the CA bundle is a different one.',
  fix: 'Look at the other checks of the operator and the webhook; on private clusters let the control plane reach port 9443 of the nodes.',
  async run(context) {
    const tried = await annotatedPod(context);
    const message = problemOf(tried);
    return message === undefined ? passed() : failed({ subject: 'svc-operator', message });
  },
});

function problemOf(tried: Tried): string | undefined {
  switch (tried.kind) {
    case 'protected':
      return undefined;
    case 'bare':
      return tried.isRefused
        ? 'A pod with svc/inject: "true" stays without the wrapper, and only the admission policy refuses it.'
        : 'A pod with svc/inject: "true" would start without the wrapper.';
    case 'refused':
      return `The operator refuses a pod that it should protect: ${tried.because}.`;
    default:
      return `Pods that ask for protection cannot start: ${tried.because}.`;
  }
}

/** Limit of tried ServiceConfigs: each costs one review. */
const maxTried = 50;

export const configuredPodMutated = clusterCheck('SVC-OPERATOR-019', 'error', {
  timeoutMs: 60_000,
  title:
    'A pod that a ServiceConfig selects is never left unprotected (measured by dry runs, nothing is created)',
  cause:
    'The namespace lacks the label svc/protected=true, the webhook excludes it, or the operator does not know the ServiceConfig yet.',
  fix: 'Look at the conditions of the ServiceConfig and at the selectors of the webhook configuration.',
  async run(context) {
    const configs = ((await serviceConfigsOf(context)) ?? []).filter(isTried);
    if (configs.length === 0) return skipped('There are no ServiceConfigs that select by plain labels');
    const found = await concurrently(configs.slice(0, maxTried), 4, (config) => tryConfig(context, config));
    const failures = found.flatMap(({ failure }) => failure ?? []);
    const obstacles = found.flatMap(({ obstacle }) => obstacle ?? []);
    const [first] = obstacles;
    if (first === undefined) return verdict(failures, `${found.length} of ${configs.length} ServiceConfigs`);
    const reason = `${obstacles.length} of ${found.length} ServiceConfigs could not be tried: ${first.message}`;
    return verdictOnPart(failures, reason, first.permission);
  },
});

const isTried = ({ spec }: KnownServiceConfig) => (spec.selector.matchExpressions ?? []).length === 0;

interface TriedConfig {
  readonly failure?: CheckFailure;
  /** Why the trial was impossible: a quota or another policy in the namespace. */
  readonly obstacle?: NotEvaluated;
}

/** A pod that lacks required settings is refused, which counts as protection. */
async function tryConfig(
  context: CheckContext,
  { namespace, name, spec }: KnownServiceConfig,
): Promise<TriedConfig> {
  try {
    const outcome = await tryPod(context, {
      namespace,
      labels: spec.selector.matchLabels ?? {},
      ...(spec.containers && { containers: spec.containers }),
    });
    if (outcome.kind !== 'bare' || outcome.isRefused) return {};
    const message = 'A pod that it selects would start without the wrapper.';
    return { failure: { subject: `${namespace}/${name}`, message } };
  } catch (error) {
    if (error instanceof NotEvaluated) return { obstacle: error };
    throw error;
  }
}

const namespace = 'default';

/** The result for a pod that asks for protection by annotations. @throws NotEvaluated */
export const annotatedPod = shared((context) =>
  tryPod(context, {
    namespace,
    annotations: {
      'svc/inject': 'true',
      'svc/vault-address': 'https://svc-validate.invalid',
      'svc/vault-role': 'svc-validate',
      'svc/secret-paths': 'secret/svc-validate',
    },
  }),
);

/** The result of creating a pod in a dry run. */
type Tried =
  | { readonly kind: 'protected' }
  /** The webhook has not added the wrapper: the pod would have started without it, or the chart's policy refuses it. */
  | { readonly kind: 'bare'; readonly isRefused: boolean }
  /** The operator refused the pod. */
  | { readonly kind: 'refused'; readonly because: string }
  /** The API server does not trust the webhook's certificate. */
  | { readonly kind: 'untrusted'; readonly because: string }
  /** The API server gets no answer from the webhook. */
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
 * Lets the API server admit a pod in a dry run, which does not create it.
 * @throws NotEvaluated if that is not allowed, or another admission refuses the pod
 */
async function tryPod(context: CheckContext, trial: Trial): Promise<Tried> {
  const path = `/api/v1/namespaces/${encodeURIComponent(trial.namespace)}/pods`;
  const body = podFor(trial);
  try {
    const request = { method: 'POST', path, query: { dryRun: 'All' }, body, timeoutMs };
    const pod = await send<Pod>(context, request);
    return carriesWrapper(pod) ? { kind: 'protected' } : { kind: 'bare', isRefused: false };
  } catch (error) {
    if (!(error instanceof KubeError) || error.status === undefined) throw error;
    return refusal(error, trial.namespace);
  }
}

function refusal(error: KubeError, namespace: string): Tried {
  const { message } = error;
  const because = message.replace(/^POST \S+: \d+: /, '');
  if (/admission webhook "[^"]*\.svc\.io" denied/.test(message)) return { kind: 'refused', because };
  if (message.includes("ValidatingAdmissionPolicy 'svc-operator'")) return { kind: 'bare', isRefused: true };
  if (!/failed calling webhook "[^"]*\.svc\.io"/.test(message))
    throw new NotEvaluated(
      `The API server refuses a pod in ${namespace} for another reason: ${because}`,
      undefined,
      error,
    );
  return { kind: /x509|certificate/.test(message) ? 'untrusted' : 'unanswered', because };
}

/** Passes every Pod Security level, and quotas that require requests and limits. */
function podFor({ labels = {}, annotations = {}, containers = ['application'] }: Trial): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { generateName: 'svc-validate-', labels, annotations },
    spec: {
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: containers.map((name) => ({
        name,
        image: 'svc-validate.invalid/none',
        command: ['/none'],
        resources: { requests: modest, limits: modest },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      })),
    },
  };
}

const modest = { cpu: '10m', memory: '16Mi' };
