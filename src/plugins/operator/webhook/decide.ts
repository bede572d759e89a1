import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { createPatch, type Operation } from 'rfc6902';
import {
  type CallerKeys,
  type ImageCommand,
  type InjectionDefaults,
  type InjectionPlan,
  type PodSecurityLevel,
  podSecurityLevels,
  type Resolution,
} from '../../../cluster/injection/contract.ts';
import {
  imagesOfUnknownUser,
  imagesToLookUp,
} from '../../../cluster/injection/mutate/application-process.ts';
import { mutatePod } from '../../../cluster/injection/mutate/mutate-pod.ts';
import { type PatchSize, patchErrors, patchSize } from '../../../cluster/injection/mutate/patch-size.ts';
import { isExempt } from '../../../cluster/injection/protected-pods.ts';
import { resolveInjection } from '../../../cluster/injection/resolve/resolve-injection.ts';
import type { KubeClient } from '../../../cluster/kube/client.ts';
import { managedByUs, podSecurityLabel } from '../../../cluster/kube/labels.ts';
import type { Pod } from '../../../cluster/kube/pod.ts';
import { cutMessages } from '../../../runtime/bounds/foreign-text.ts';
import { exitStatus, messageOf, SvcError } from '../../../runtime/errors.ts';
import { within } from '../../../runtime/lifecycle/wait.ts';
import type { ClusterView, ConfigIndexes } from '../cluster-view.ts';
import { caConfigMapName } from '../controllers/ca-config-map.ts';
import type { ImageCommands, LookupOptions } from '../images/create-image-commands.ts';
import { type Configs, type CurrentConfigs, configsOfNow, serviceConfigsIn } from './configs.ts';
import type { AdmissionRequest } from './review.ts';

export interface DecideDeps {
  readonly client: KubeClient;
  readonly cluster: ClusterView;
  readonly indexes: ConfigIndexes;
  readonly current: CurrentConfigs;
  readonly defaults: InjectionDefaults;
  readonly images: ImageCommands;
  /** The operator's own. */
  readonly namespace: string;
  /** Whether the API server currently supports native sidecars. */
  readonly nativeSidecars: () => boolean;
  /**
   * Whether a namespace's config map with authorities belongs to somebody else; undefined if there are no authorities.
   */
  readonly hasForeignAuthorities: ((namespace: string) => boolean) | undefined;
}

/** The part of the request's time that waiting, such as for image lookups, may take, and memory for the answer. */
export interface ReviewLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Takes so many bytes until the review is answered. @returns false if there was no room in time */
  readonly reserve: (bytes: number) => Promise<boolean>;
}

/** Never rejects. Any failure denies the pod, which would otherwise start unprotected. */
export async function decide(
  request: AdmissionRequest,
  deps: DecideDeps,
  limits: ReviewLimits,
): Promise<Decision> {
  const decision = await decided(request, deps, limits);
  return decision.kind === 'deny' ? { ...decision, errors: cutMessages(decision.errors) } : decision;
}

async function decided(request: AdmissionRequest, deps: DecideDeps, limits: ReviewLimits): Promise<Decision> {
  try {
    const exempt = exempted(request, deps);
    if (exempt !== undefined) return exempt;
    if (!deps.cluster.synced) await listed(deps.cluster, limits);
    return await decideProtected(request, deps, limits);
  } catch (error) {
    return { kind: 'deny', code: 500, errors: [`svc could not decide: ${described(error)}`] };
  }
}

/** The webhook's configuration excludes these as well, but may have been changed. */
function exempted({ operation, namespace }: AdmissionRequest, deps: DecideDeps): Decision | undefined {
  if (operation !== 'CREATE') return { kind: 'skip', reason: `the operation is ${operation}` };
  if (isExempt(namespace, deps.namespace))
    return { kind: 'skip', reason: `pods of ${namespace} are never changed` };
  return undefined;
}

/** An object that is not listed yet would count as missing. */
function listed({ whenSynced }: ClusterView, { timeoutMs, signal }: ReviewLimits): Promise<void> {
  return within(whenSynced(), performance.now() + timeoutMs, signal, notListed);
}

function notListed(): SvcError {
  return new SvcError('CLUSTER_NOT_LISTED', 'The operator has not listed the cluster yet', {
    nextStep: 'Create the pod again in a moment; if that keeps failing, look at /readyz of the operator.',
    exitStatus: exitStatus.unavailable,
  });
}

async function decideProtected(
  request: AdmissionRequest,
  deps: DecideDeps,
  limits: ReviewLimits,
): Promise<Decision> {
  const labels = await labelsOf(request.namespace, deps, limits.signal);
  const resolution = await resolved(request, labels, deps, limits);
  if (resolution.kind === 'skip') return resolution;
  if (resolution.kind === 'deny') return { code: 403, ...resolution };
  return decideInjection(request, resolution.plan, labels, deps, limits);
}

/** Reads configurations again before denying a pod: the missing object may have been created together with it. */
async function resolved(
  request: AdmissionRequest,
  namespaceLabels: Readonly<Record<string, string>>,
  deps: DecideDeps,
  { signal }: ReviewLimits,
): Promise<Resolution> {
  const { pod, namespace, excess } = request;
  const { defaults } = deps;
  const resolve = (configs: Configs) =>
    resolveInjection(pod, { namespace, namespaceLabels, ...configs, defaults, excess });
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
  limits: ReviewLimits,
): Promise<Decision> {
  const { pod, namespace } = request;
  if (deps.hasForeignAuthorities?.(namespace)) return foreignAuthorities(namespace);
  const podSecurity = podSecurityOf(labels);
  const images = await lookUpImages(request, plan, podSecurity, deps.images, limits);
  const size = patchSize(pod, plan, deps.defaults, images);
  const tooLarge = patchErrors(size);
  if (tooLarge.length > 0) return { kind: 'deny', code: 403, errors: tooLarge };
  if (!(await limits.reserve(answerMemory(size)))) return busy;
  const mutation = mutatePod(pod, plan, deps.defaults, {
    podSecurity,
    nativeSidecars: deps.nativeSidecars(),
    ...{ images, newCallerKeys },
  });
  if (mutation.kind === 'deny') return { code: 403, ...mutation };
  const patch = patchBetween(pod, mutation.pod);
  // the API server asks again after other webhooks have changed a pod
  if (patch.length === 0) return { kind: 'skip', reason: 'it is complete already' };
  return {
    kind: 'inject',
    patch,
    warnings: cutMessages(mutation.warnings),
    serviceConfig: plan.serviceConfig,
  };
}

/** Values, names and layouts of what a wrapped container gets. */
const memoryOfContainer = 4_096;

/** What is made for an answer: new values, the patch's text with up to two bytes for a character, and its bytes. */
export function answerMemory({ bytes, added, wrapped }: PatchSize): number {
  return 3 * bytes + added + wrapped * memoryOfContainer;
}

const busy: Decision = {
  kind: 'deny',
  code: 503,
  errors: ['svc has too many answers to make at the same time. Create the pod again.'],
};

/** The author of these authorities could impersonate the secrets server and receive the token of the pod. */
function foreignAuthorities(namespace: string): Decision {
  const error = `ConfigMap ${caConfigMapName} of namespace ${namespace}: has another owner, and the pod would trust the authorities in it; delete it, or label it ${managedByUs} to have it overwritten`;
  return { kind: 'deny', code: 403, errors: [error] };
}

function described(error: unknown): string {
  if (error instanceof SvcError) return [error.message, ...error.details, error.nextStep].join(' ');
  return messageOf(error);
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** New keys in the form that cluster/injection recognises: an access key of 20 characters, a secret of 240 random bits. */
export function newCallerKeys(): CallerKeys {
  // 256 is a multiple of the 32 letters, so each is equally likely
  const id = Array.from(randomBytes(17), (byte) => letters[byte % letters.length]).join('');
  return { id: `SVC${id}`, secret: randomBytes(30).toString('base64url') };
}

/** JSON patch (RFC 6902) from one pod to the other; empty if they are equal. */
export function patchBetween(before: Pod, after: Pod): Operation[] {
  return createPatch(before, after, wholeArrays);
}

/** Replaces differing arrays as a whole: finding the shortest edit takes time quadratic in their length. */
function wholeArrays(before: unknown, after: unknown, at: { toString(): string }): Operation[] | undefined {
  if (!Array.isArray(before) || !Array.isArray(after)) return undefined;
  return isDeepStrictEqual(before, after) ? [] : [{ op: 'replace', path: at.toString(), value: after }];
}

/**
 * Commands and users of the pod's images. If a registry does not respond in time the pod is denied, even if only the
 * user is needed: protection must not depend on a registry's speed. If a registry responds without naming the user, the
 * pod runs without locked memory.
 * @throws ImageLookupError
 */
async function lookUpImages(
  { pod, namespace }: AdmissionRequest,
  plan: InjectionPlan,
  podSecurity: PodSecurityLevel,
  images: ImageCommands,
  limits: LookupOptions,
): Promise<ReadonlyMap<string, ImageCommand>> {
  const needed = imagesToLookUp(pod, plan);
  const wanted = imagesOfUnknownUser(pod, plan, podSecurity).filter((image) => !needed.includes(image));
  if (needed.length + wanted.length === 0) return new Map();
  return images.commandsOf(pod, namespace, [...needed, ...wanted], {
    ...limits,
    dispensable: new Set(wanted),
  });
}

type Labels = Readonly<Record<string, string>>;

interface Namespace {
  readonly metadata: { readonly labels?: Labels };
}

/**
 * Labels of a namespace, from the API server if the namespace has just been created.
 * @throws KubeError if the API server cannot be asked
 */
async function labelsOf(
  name: string,
  { cluster, client }: { readonly cluster: Pick<ClusterView, 'namespaces'>; readonly client: KubeClient },
  signal: AbortSignal,
): Promise<Labels> {
  const known = cluster.namespaces.get(name);
  if (known !== undefined) return known.labels;
  const path = `/api/v1/namespaces/${encodeURIComponent(name)}`;
  const { metadata } = await client.request<Namespace>({ path, signal });
  return metadata.labels ?? {};
}

/** The level that a namespace enforces; `privileged` if none. */
function podSecurityOf(labels: Labels): PodSecurityLevel {
  const named = labels[podSecurityLabel];
  // the API server treats an unknown level as the strictest
  return named === undefined
    ? 'privileged'
    : (podSecurityLevels.find((level) => level === named) ?? 'restricted');
}

/** The decision about a new pod. */
export type Decision =
  /** The pod does not ask for protection. */
  | { readonly kind: 'skip'; readonly reason: string }
  | {
      readonly kind: 'inject';
      /** JSON patch (RFC 6902) that protects the pod; not empty. */
      readonly patch: readonly Operation[];
      readonly warnings: readonly string[];
      readonly serviceConfig: string | undefined;
    }
  /** The pod would not be protected as requested; one sentence for each reason. */
  | { readonly kind: 'deny'; readonly code: 400 | 403 | 500 | 503; readonly errors: readonly string[] };
