import { isExempt } from '../../../core/cluster/protected.ts';
import { exitStatus, messageOf, SvcError } from '../../../core/errors.ts';
import type { InjectionDefaults, InjectionPlan, Resolution } from '../../../core/injection/contract.ts';
import { mutatePod } from '../../../core/injection/mutate/mutate-pod.ts';
import { resolveInjection } from '../../../core/injection/resolve/resolve-injection.ts';
import { managedByUs } from '../../../core/kubernetes/ownership.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { within } from '../../../runtime/lifecycle/within.ts';
import type { ClusterView } from '../cluster/contract.ts';
import { caConfigMapName } from '../controllers/ca-config-map.ts';
import type { ImageCommands } from '../images/contract.ts';
import { boundedMistakes } from './bounded-mistakes.ts';
import { newCallerKeys } from './caller-keys.ts';
import { type ConfigIndexes, type Configs, configsOfNow, serviceConfigsIn } from './configs.ts';
import type { Decision } from './decision.ts';
import { patchBetween } from './json-patch.ts';
import { lookUpImages } from './look-up-images.ts';
import { labelsOf, podSecurityOf } from './namespaces.ts';
import type { AdmissionRequest } from './review.ts';

export interface DecideDeps {
  readonly client: KubeClient;
  readonly cluster: ClusterView;
  readonly indexes: ConfigIndexes;
  readonly defaults: InjectionDefaults;
  readonly images: ImageCommands;
  /** Where the operator itself is. */
  readonly namespace: string;
  /** Of the API server, as of now. */
  readonly nativeSidecars: () => boolean;
  /** Whether pods of this namespace would be given authorities of somebody else. */
  readonly hasForeignAuthorities: (namespace: string) => boolean;
}

/** What of the request's time is left for looking images up. */
export interface Limits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Never rejects: what goes wrong refuses the pod, because it would start without its protection. */
export async function decide(request: AdmissionRequest, deps: DecideDeps, limits: Limits): Promise<Decision> {
  const decision = await decided(request, deps, limits);
  return decision.kind === 'deny' ? { ...decision, mistakes: boundedMistakes(decision.mistakes) } : decision;
}

async function decided(request: AdmissionRequest, deps: DecideDeps, limits: Limits): Promise<Decision> {
  try {
    const exempt = exempted(request, deps);
    if (exempt !== undefined) return exempt;
    await listed(deps.cluster, limits);
    return await decideProtected(request, deps, limits);
  } catch (error) {
    return { kind: 'deny', code: 500, mistakes: [`svc could not decide: ${described(error)}`] };
  }
}

/** The webhook's own configuration leaves these out, too: it may have been changed. */
function exempted({ operation, namespace }: AdmissionRequest, deps: DecideDeps): Decision | undefined {
  if (operation !== 'CREATE') return { kind: 'skip', reason: `the operation is ${operation}` };
  if (isExempt(namespace, deps.namespace))
    return { kind: 'skip', reason: `pods of ${namespace} are never changed` };
  return undefined;
}

/** What is not listed yet would be taken for not being there. */
function listed({ whenSynced }: ClusterView, { timeoutMs, signal }: Limits): Promise<void> {
  return within(whenSynced(), performance.now() + timeoutMs, signal, notListed);
}

function notListed(): SvcError {
  return new SvcError('CLUSTER_NOT_LISTED', 'The operator has not listed the cluster yet', {
    nextStep: 'Create the pod again in a moment; where that goes on, look at /readyz of the operator.',
    exitStatus: exitStatus.unavailable,
  });
}

async function decideProtected(
  request: AdmissionRequest,
  deps: DecideDeps,
  limits: Limits,
): Promise<Decision> {
  const labels = await labelsOf(request.namespace, deps, limits.signal);
  const resolution = await resolved(request, labels, deps, limits);
  if (resolution.kind === 'skip') return resolution;
  if (resolution.kind === 'deny') return { code: 403, ...resolution };
  return decideInjection(request, resolution.plan, labels, deps, limits);
}

/** Where it would be refused, what it lacks may have been made together with it. */
async function resolved(
  request: AdmissionRequest,
  namespaceLabels: Readonly<Record<string, string>>,
  deps: DecideDeps,
  { signal }: Limits,
): Promise<Resolution> {
  const { pod, namespace } = request;
  const { defaults } = deps;
  const resolve = (configs: Configs) =>
    resolveInjection(pod, { namespace, namespaceLabels, ...configs, defaults });
  const first = resolve(await serviceConfigsIn(request, deps, signal));
  if (first.kind !== 'deny') return first;
  const configs = await configsOfNow(request, deps, signal).catch(() => undefined);
  return configs === undefined ? first : resolve(configs);
}

async function decideInjection(
  request: AdmissionRequest,
  plan: InjectionPlan,
  labels: Readonly<Record<string, string>>,
  deps: DecideDeps,
  limits: Limits,
): Promise<Decision> {
  const { pod, namespace } = request;
  if (deps.hasForeignAuthorities(namespace)) return foreignAuthorities(namespace);
  const podSecurity = podSecurityOf(labels);
  const images = await lookUpImages(request, plan, podSecurity, deps.images, limits);
  const mutation = mutatePod(pod, plan, deps.defaults, {
    podSecurity,
    nativeSidecars: deps.nativeSidecars(),
    ...{ images, newCallerKeys },
  });
  if (mutation.kind === 'deny') return { code: 403, ...mutation };
  const patch = patchBetween(pod, mutation.pod);
  // the API server asks again after other webhooks have changed a pod
  if (patch.length === 0) return { kind: 'skip', reason: 'it has all that it is to have' };
  return { kind: 'inject', patch, warnings: mutation.warnings, serviceConfig: plan.serviceConfig };
}

/** Whoever wrote them could pass for the secrets server, and be given the token of the pod. */
function foreignAuthorities(namespace: string): Decision {
  const mistake = `config map ${caConfigMapName} of namespace ${namespace}: is somebody else's, and the pod would trust the authorities in it; delete it, or label it ${managedByUs} to have it overwritten`;
  return { kind: 'deny', code: 403, mistakes: [mistake] };
}

function described(error: unknown): string {
  if (error instanceof SvcError) return [error.message, ...error.details, error.nextStep].join(' ');
  return messageOf(error);
}
