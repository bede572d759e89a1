import type { ServiceConfigSpec } from '../custom-resources/resources.ts';
import { isLabelled, selects } from '../kubernetes/labels.ts';
import type { Container, Pod } from '../kubernetes/pod.ts';
import type { InjectionPlan } from './contract.ts';
import { givenAnnotations, optsOut } from './resolve/annotations.ts';

/** Those that start under the wrapper, init containers among them. */
export function wrappedContainers(pod: Pod): readonly Container[] {
  return containersOf(pod).filter((container) => isWrapped(container, pod));
}

/** The webhook has changed it, and its changes are still present. */
export function carriesWrapper(pod: Pod): boolean {
  return isLabelled(pod.metadata.labels) && wrappedContainers(pod).length > 0;
}

/** It runs, or is about to, as one of the pods that egress policies select. */
export function isProtected(pod: Pod): boolean {
  return isLabelled(pod.metadata.labels) && !isOver(pod);
}

/** It has ended by itself and is only kept for its logs. */
export function isOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Namespaces that the webhook skips, so that the cluster can start without it. */
export function isExempt(namespace: string, own: string): boolean {
  return namespace === 'kube-system' || namespace === own;
}

export function hasProtectedPod(pods: Iterable<{ readonly pod: Pod }>): boolean {
  for (const { pod } of pods) if (isProtected(pod)) return true;
  return false;
}

/** Containers that must start under the wrapper. Sidecars of a mesh and those of the webhook hold none of its secrets. */
export function applicationContainers({ spec }: Pod): readonly Container[] {
  return spec.containers.filter((container) => !isInjected(container) && !isMeshSidecar(container));
}

/** It starts the wrapper as the webhook writes it, out of the folder that the webhook mounts. */
export function isWrapped(container: Container, pod: Pod): boolean {
  return startsWrapper(container) && hasFolder(container, pod);
}

/** A mount below the folder could replace the wrapper. */
function hasFolder({ volumeMounts = [] }: Container, { spec }: Pod): boolean {
  const below = volumeMounts.filter(({ mountPath }) => `${mountPath}/`.startsWith(`${wrapperFolder}/`));
  const own = below.find(({ mountPath }) => mountPath === wrapperFolder);
  const volume = (spec.volumes ?? []).find(({ name }) => name === volumeNames.wrapper);
  return (
    volume !== undefined &&
    own?.name === volume.name &&
    // an image's volume shows its whole root
    own.subPath === (volume.image === undefined ? undefined : wrapperFolder.slice(1)) &&
    below.every(({ mountPath }) => mountPath === wrapperFolder || mountPath === certificateFolder)
  );
}

/** `svc/…` annotations make a pod ask for it, unless they say no. */
export function asksForWrapper(pod: Pod): boolean {
  const given = givenAnnotations(pod);
  return !optsOut(given) && Object.keys(given).length > 0;
}

export interface CreatedConfig {
  readonly name: string;
  /** RFC 3339, in UTC. */
  readonly created: string;
  readonly spec: ServiceConfigSpec;
}

/** The oldest of those that select the pod; ties are broken by name. Undefined where none does. */
export function selectServiceConfig<T extends CreatedConfig>(pod: Pod, configs: readonly T[]): T | undefined {
  return configs
    .filter(({ spec }) => selects(spec.selector, pod.metadata.labels))
    .reduce<T | undefined>(
      (best, one) => (best === undefined || precedes(one, best) ? one : best),
      undefined,
    );
}

function precedes(a: CreatedConfig, b: CreatedConfig): boolean {
  return a.created === b.created ? a.name < b.name : a.created < b.created;
}

/** Every container that starts with the pod, those of its initialisation first. */
export const containersOf = ({ spec }: Pod): readonly Container[] => [
  ...(spec.initContainers ?? []),
  ...spec.containers,
];

/** Those of the user. */
export const ownContainers = (pod: Pod): readonly Container[] =>
  containersOf(pod).filter((container) => !isInjected(container));

/** The containers that are wrapped: the named ones, or all ordinary ones but sidecars of known meshes. */
export function chosenContainers(pod: Pod, { containers }: InjectionPlan): readonly Container[] {
  if (containers !== undefined) return ownContainers(pod).filter(({ name }) => containers.includes(name));
  return pod.spec.containers.filter((container) => !isInjected(container) && !isMeshSidecar(container));
}

export function choiceErrors(pod: Pod, plan: InjectionPlan): readonly string[] {
  const known = ownContainers(pod).map(({ name }) => name);
  const unknown = plan.containers?.filter((name) => !known.includes(name)) ?? [];
  if (unknown.length > 0) return unknown.map((name) => notThere(name, known));
  if (chosenContainers(pod, plan).length > 0) return [];
  return ['svc/containers: should name a container, because all of this pod are sidecars of a mesh'];
}

function notThere(name: string, known: readonly string[]): string {
  return `svc/containers: the pod has no container ${JSON.stringify(name)}, it has ${known.join(', ')}`;
}

/** Names of the parts that the operator adds to a pod. `docs/adr/0006-injection.md` explains each. */
export const volumeNames = {
  wrapper: 'svc-wrapper',
  certificates: 'svc-ca',
  storeCertificates: 'svc-store-ca',
  /** Opens for wrappers and the proxy of the pod only, where a node agent enforces. */
  token: 'svc-wrapper-token',
  agent: 'svc-agent',
  spool: 'svc-proxy-spool',
} as const;

/** What operators before this one called `volumeNames.token`. */
export const formerTokenName = 'svc-token';

export const copierName = 'svc-wrapper';
export const proxyName = 'svc-proxy';

/** Containers that are the operator's own: never wrapped, and never looked at for what the user wants. */
export const isInjected = ({ name }: { readonly name: string }): boolean =>
  name === copierName || name === proxyName;

/** The wrapper's folder in a container; its program is built for exactly this path. */
export const wrapperFolder = '/svc';
export const wrapperProgram = `${wrapperFolder}/svc-wrapper`;
export const certificateFolder = `${wrapperFolder}/certs`;
export const tokenFolder = '/var/run/secrets/svc';

export const originalCmd = 'SVC_ORIGINAL_CMD';
export const originalArgs = 'SVC_ORIGINAL_ARGS';

/**
 * Whether the wrapper starts this container already, in one of the two forms of `wrap-container.ts`. Whoever writes a pod this
 * way gains nothing by it: all settings are put in force as in any other container.
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
 * Whether its command is the wrapper without flags, which would win over what variables say. Values of other variables, and what follows the program,
 * may have been left out of the pod.
 */
export function startsWrapper({ command = [], args = [], env = [] }: Container): boolean {
  const [program, separator] = command;
  if (program !== wrapperProgram || args.length > 0) return false;
  return (separator ?? '--') === '--' && env.some(({ name }) => name === originalCmd);
}

/** Whether it runs the wrapper in a form of its own, with flags that would win over what is set here. */
export const runsWrapperItself = (container: Container): boolean =>
  container.command?.[0] === wrapperProgram && !isWrittenWrapped(container);

/** Names that meshes give the containers that they add. */
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
