import { cutList, messagesOn } from '../../runtime/bounds/foreign-text.ts';
import type { TooLarge } from '../kube/known-objects.ts';
import { isLabelled, selects } from '../kube/labels.ts';
import type { Container, Pod, PodMetadata } from '../kube/pod.ts';
import type { ServiceConfigSpec } from '../resources/resources.ts';
import type { InjectionPlan } from './contract.ts';
import { givenAnnotations, optsOut } from './resolve/annotations.ts';

/** Containers that start under the wrapper, including init containers. */
export function wrappedContainers(pod: Pod): readonly Container[] {
  return containersOf(pod).filter((container) => isWrapped(container, pod));
}

/** Whether the webhook has mutated the pod and its changes are still present. */
export function carriesWrapper(pod: Pod): boolean {
  return isLabelled(pod.metadata.labels) && wrappedContainers(pod).length > 0;
}

/** Whether the pod runs, or is about to, as one that egress policies select. */
export function isProtected(pod: Pod): boolean {
  return isLabelled(pod.metadata.labels) && !isOver(pod);
}

/** Whether the pod has ended and is kept only for its logs. */
export function isOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Namespaces that the webhook skips, so that a cluster can start without it. */
export function isExempt(namespace: string, own: string): boolean {
  return namespace === 'kube-system' || namespace === own;
}

export function hasProtectedPod(pods: Iterable<{ readonly pod: Pod }>): boolean {
  for (const { pod } of pods) if (isProtected(pod)) return true;
  return false;
}

/**
 * Containers that must start under the wrapper. Mesh sidecars and containers added by the webhook hold none of its
 * secrets.
 */
export function applicationContainers({ spec }: Pod): readonly Container[] {
  return spec.containers.filter((container) => !isInjected(container) && !isMeshSidecar(container));
}

/** Whether the container starts the wrapper as the webhook writes it, from the folder that the webhook mounts. */
export function isWrapped(container: Container, pod: Pod): boolean {
  return startsWrapper(container) && hasFolder(container, pod);
}

/** A mount inside the folder could replace the wrapper. */
function hasFolder({ volumeMounts = [] }: Container, { spec }: Pod): boolean {
  const below = volumeMounts.filter(({ mountPath }) => `${mountPath}/`.startsWith(`${wrapperFolder}/`));
  const own = below.find(({ mountPath }) => mountPath === wrapperFolder);
  const volume = (spec.volumes ?? []).find(({ name }) => name === volumeNames.wrapper);
  return (
    volume !== undefined &&
    own?.name === volume.name &&
    // an image volume shows the image's whole root
    own.subPath === (volume.image === undefined ? undefined : wrapperFolder.slice(1)) &&
    below.every(({ mountPath }) => mountPath === wrapperFolder || mountPath === certificateFolder)
  );
}

/** A pod with `svc/…` annotations asks for the wrapper unless it opts out. */
export function asksForWrapper(pod: Pod): boolean {
  const given = givenAnnotations(pod);
  return !optsOut(given) && Object.keys(given).length > 0;
}

export interface CreatedConfig {
  readonly name: string;
  /** RFC 3339, in UTC. */
  readonly created: string;
  readonly spec: ServiceConfigSpec & TooLarge;
}

/** The oldest ServiceConfig that selects the pod; ties are broken by name. Undefined if none does. */
export function selectServiceConfig<T extends CreatedConfig>(pod: Pod, configs: readonly T[]): T | undefined {
  return configs
    .filter(({ spec }) => selects(spec.selector, pod.metadata.labels))
    .reduce<T | undefined>(
      (best, one) => (best === undefined || precedes(one, best) ? one : best),
      undefined,
    );
}

/** Selects a pod's ServiceConfig. */
export type ConfigSelection<T extends CreatedConfig = CreatedConfig> = (pod: Pod) => T | undefined;

/**
 * As `selectServiceConfig`, for many pods: decided once for labels that are one object, as the cluster view keeps those
 * of a workload's pods.
 */
export function createSelection<T extends CreatedConfig>(configs: readonly T[]): ConfigSelection<T> {
  const known = new Map<PodMetadata['labels'], T | undefined>();
  return (pod) => {
    const { labels } = pod.metadata;
    if (!known.has(labels)) known.set(labels, selectServiceConfig(pod, configs));
    return known.get(labels);
  };
}

function precedes(a: CreatedConfig, b: CreatedConfig): boolean {
  return a.created === b.created ? a.name < b.name : a.created < b.created;
}

/** All containers that start with the pod, init containers first. */
export const containersOf = ({ spec }: Pod): readonly Container[] => [
  ...(spec.initContainers ?? []),
  ...spec.containers,
];

/** The user's containers. */
export const ownContainers = (pod: Pod): readonly Container[] =>
  containersOf(pod).filter((container) => !isInjected(container));

/** The containers to wrap: the named ones, or all regular containers except known mesh sidecars. */
export function chosenContainers(pod: Pod, { containers }: InjectionPlan): readonly Container[] {
  if (containers !== undefined) return ownContainers(pod).filter(({ name }) => containers.includes(name));
  return pod.spec.containers.filter((container) => !isInjected(container) && !isMeshSidecar(container));
}

export function choiceErrors(pod: Pod, plan: InjectionPlan): readonly string[] {
  const known = ownContainers(pod).map(({ name }) => name);
  const unknown = plan.containers?.filter((name) => !known.includes(name)) ?? [];
  if (unknown.length > 0) return messagesOn(unknown, (name) => notThere(name, known));
  if (chosenContainers(pod, plan).length > 0) return [];
  return ['svc/containers: should name a container, because all containers of this pod are mesh sidecars'];
}

function notThere(name: string, known: readonly string[]): string {
  return `svc/containers: the pod has no container ${JSON.stringify(name)}, it has ${cutList(known)}`;
}

/** Names of the volumes that the operator adds to a pod; `docs/adr/0006-injection.md` explains each. */
export const volumeNames = {
  wrapper: 'svc-wrapper',
  certificates: 'svc-ca',
  storeCertificates: 'svc-store-ca',
  /** Where a node agent enforces, only wrappers and the pod's proxy can open it. */
  token: 'svc-wrapper-token',
  agent: 'svc-agent',
  spool: 'svc-proxy-spool',
} as const;

/** Name of `volumeNames.token` in older operators. */
export const formerTokenName = 'svc-token';

export const copierName = 'svc-wrapper';
export const proxyName = 'svc-proxy';

/** Containers added by the operator: never wrapped, and never examined for what the user wants. */
export const isInjected = ({ name }: { readonly name: string }): boolean =>
  name === copierName || name === proxyName;

/** The wrapper's folder in a container; the program is built for exactly this path. */
export const wrapperFolder = '/svc';
export const wrapperProgram = `${wrapperFolder}/svc-wrapper`;
export const certificateFolder = `${wrapperFolder}/certs`;
export const tokenFolder = '/var/run/secrets/svc';

export const originalCmd = 'SVC_ORIGINAL_CMD';
export const originalArgs = 'SVC_ORIGINAL_ARGS';

/**
 * Whether this container already starts under the wrapper, in one of the two forms of `wrap-container.ts`. Writing a
 * pod this way gains nothing: all settings are enforced as in any other container.
 */
export function isWrittenWrapped(container: Container): boolean {
  const { command = [], env = [] } = container;
  return (
    startsWrapper(container) &&
    command.length !== 2 &&
    env.some(({ name, value }) => name === originalCmd && value !== undefined && value !== '')
  );
}

/**
 * Whether the command is the wrapper without flags, which would override variables. Values of other variables, and
 * arguments after the program, may have been stripped from the pod.
 */
export function startsWrapper({ command = [], args = [], env = [] }: Container): boolean {
  const [program, separator] = command;
  if (program !== wrapperProgram || args.length > 0) return false;
  return (separator ?? '--') === '--' && env.some(({ name }) => name === originalCmd);
}

/** Whether the container runs the wrapper in its own way, with flags that would override the operator's settings. */
export const runsWrapperItself = (container: Container): boolean =>
  container.command?.[0] === wrapperProgram && !isWrittenWrapped(container);

/** Container names used by meshes. */
const meshSidecars: ReadonlySet<string> = new Set([
  'istio-proxy', // Istio
  'linkerd-proxy', // Linkerd
  'kuma-sidecar', // Kuma, Kong Mesh
  'consul-dataplane', // Consul 1.14 and later
  'consul-connect-envoy-sidecar', // Consul before
  'envoy-sidecar', // Consul with several ports
  'envoy', // AWS App Mesh, Open Service Mesh
  'xray-daemon', // AWS App Mesh
  'traffic-agent', // Telepresence
]);

export const isMeshSidecar = ({ name }: Container): boolean => meshSidecars.has(name);
