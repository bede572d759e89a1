import type { Container, Pod } from '../../kubernetes/pod.ts';
import type { InjectionPlan } from '../contract.ts';

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
  token: 'svc-token',
  agent: 'svc-agent',
  spool: 'svc-proxy-spool',
} as const;

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
