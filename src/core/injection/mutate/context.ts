import type {
  Container,
  ContainerSecurityContext,
  LifecycleHandler,
  Pod,
  Resources,
  Volume,
  VolumeMount,
} from '../../kubernetes/pod.ts';
import type {
  CallerKeys,
  InjectionDefaults,
  InjectionPlan,
  MutationEnvironment,
  PodSecurityLevel,
} from '../contract.ts';
import {
  copierName,
  isWrittenWrapped,
  ownContainers,
  proxyName,
  volumeNames,
  wrapperFolder,
  wrapperProgram,
} from '../protected-pods.ts';

/** What the steps of one mutation share. */
export interface Context {
  /** As it came. */
  readonly pod: Pod;
  readonly plan: InjectionPlan;
  readonly defaults: InjectionDefaults;
  readonly surroundings: MutationEnvironment;
  readonly ports: Ports;
  readonly folder: FolderDelivery;
  readonly certificates: Shared | undefined;
  /** For the proxy alone. */
  readonly storeCertificates: Shared | undefined;
  readonly token: Shared;
  /** Undefined: callers of the proxy need none. */
  readonly callerKeys: CallerKeys | undefined;
  readonly remarks: Diagnostics;
}

/** A volume, and how a container sees it. */
export interface Shared {
  readonly volume: Volume;
  readonly mount: VolumeMount;
}

/** Errors deny the pod; warnings go to the person who applied it. */
export interface Diagnostics {
  readonly errors: string[];
  readonly warnings: string[];
}

const firstHealthPort = 8081;
export const proxyPort = 8190;
const firstProxyHealthPort = 8191;

interface Ports {
  /** Of a wrapped container's health endpoint, by its name. */
  readonly health: ReadonlyMap<string, number>;
  readonly proxyHealth: number;
}

/** Ports for what is added, beside those that the pod's own containers declare or are probed at. */
export function assignPorts(pod: Pod, chosen: readonly Container[]): Ports {
  const taken = takenPorts(pod);
  taken.add(proxyPort);
  const health = new Map<string, number>();
  for (const container of chosen) {
    const port = assignedBefore(container);
    if (port === undefined || taken.has(port)) continue;
    taken.add(port);
    health.set(container.name, port);
  }
  for (const { name } of chosen) {
    if (!health.has(name)) health.set(name, takeFree(firstHealthPort, taken));
  }
  return { health, proxyHealth: takeFree(firstProxyHealthPort, taken) };
}

/** Every port that a container of the user's declares, or that one of its probes or hooks aims at by number. */
export function takenPorts(pod: Pod): Set<number> {
  return new Set(ownContainers(pod).flatMap(portsOf));
}

function portsOf({ ports = [], lifecycle, ...container }: Container): number[] {
  const handlers = [
    container.livenessProbe,
    container.readinessProbe,
    container.startupProbe,
    lifecycle?.postStart,
    lifecycle?.preStop,
  ];
  return [...ports.map(({ containerPort }) => containerPort), ...handlers.flatMap(aimOf)];
}

function aimOf(handler: LifecycleHandler | undefined): number[] {
  const aims = [handler?.httpGet?.port, handler?.tcpSocket?.port, handler?.grpc?.port];
  return aims.map(Number).filter(Number.isInteger);
}

/** When the webhook is asked again, a container keeps its port. */
function assignedBefore(container: Container): number | undefined {
  if (!isWrittenWrapped(container)) return undefined;
  const address = container.env?.findLast(({ name }) => name === 'HEALTH_ADDR')?.value;
  const port = /^:(\d+)$/.exec(address ?? '')?.[1];
  return port === undefined ? undefined : Number(port);
}

function takeFree(from: number, taken: Set<number>): number {
  let port = from;
  while (taken.has(port)) port++;
  taken.add(port);
  return port;
}

/** How the wrapper's folder comes into a pod. */
interface FolderDelivery {
  readonly volume: Volume;
  readonly mount: VolumeMount;
  /** The init container that fills the volume. */
  readonly copier: Container | undefined;
}

const copyTarget = '/svc-target';
/** A link that the init container of the node agent keeps; a runtime follows it when it starts a container. */
const hostFolder = '/var/lib/svc/wrapper/current';

/** The folder has 90 MB. */
const sizeLimit = '256Mi';
const copierNeeds: Needs = {
  requests: { cpu: '10m', memory: '32Mi' },
  limits: { cpu: '500m', memory: '128Mi' },
};

/** An image's volume shows its whole root, in which the folder is at the same path. */
export function folderDelivery(pod: Pod, defaults: InjectionDefaults): FolderDelivery {
  const { wrapperImage: image, wrapperDelivery } = defaults;
  const name = volumeNames.wrapper;
  const mount = { name, mountPath: wrapperFolder, readOnly: true };
  switch (wrapperDelivery) {
    case 'copy':
      return { volume: { name, emptyDir: { sizeLimit } }, mount, copier: copier(pod, image) };
    case 'image':
      return {
        volume: { name, image: { reference: image, pullPolicy: 'IfNotPresent' } },
        mount: { ...mount, subPath: wrapperFolder.slice(1) },
        copier: undefined,
      };
    case 'host':
      return {
        volume: { name, hostPath: { path: hostFolder, type: 'Directory' } },
        mount,
        copier: undefined,
      };
  }
}

function copier(pod: Pod, image: string): Container {
  return {
    name: copierName,
    image,
    command: [wrapperProgram, '--copy-to', copyTarget],
    resources: ownResources(pod, copierNeeds),
    securityContext: ownSecurityContext(pod),
    volumeMounts: [{ name: volumeNames.wrapper, mountPath: copyTarget }],
  };
}

/** Why the folder cannot be delivered into a pod of this namespace with the operator's settings. */
export function deliveryErrors(
  { wrapperDelivery }: InjectionDefaults,
  level: PodSecurityLevel,
): readonly string[] {
  if (wrapperDelivery !== 'host' || level === 'privileged') return [];
  return [
    `operator.wrapperDelivery: host needs a hostPath volume, which the namespace's Pod Security level ${level} forbids; use copy or image`,
  ];
}

type Amounts = Readonly<Record<'cpu' | 'memory', string>>;

export interface Needs {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

/** Requests and limits of a container that is added; a pod of the class Guaranteed remains one. */
export function ownResources(pod: Pod, { requests, limits }: Needs): Resources {
  const guaranteed = ownContainers(pod).every(isGuaranteed);
  return { requests: guaranteed ? limits : requests, limits };
}

function isGuaranteed({ resources: { requests = {}, limits = {} } = {} }: Container): boolean {
  return ['cpu', 'memory'].every((name) => {
    const limit = limits[name];
    return limit !== undefined && (requests[name] ?? limit) === limit;
  });
}

/** The user of the images that are the operator's own. */
const unprivilegedUser = 65_532;

/**
 * Of a container that is added: satisfies the level `restricted`. It has the pod's user; where the pod says none, that of
 * its image, which is not root; and another than root where the pod says root.
 */
export function ownSecurityContext({ spec }: Pod): ContainerSecurityContext {
  return {
    ...(spec.securityContext?.runAsUser === 0 ? { runAsUser: unprivilegedUser } : {}),
    runAsNonRoot: true,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  };
}

/**
 * Whether the proxy is a native sidecar. Where it is in the pod already it stays as it is: while a cluster is upgraded, one
 * replica knows of sidecars and another does not, and neither may refuse what the other has made.
 */
export function proxyIsSidecar({ spec }: Pod, { nativeSidecars }: MutationEnvironment): boolean {
  const isProxy = ({ name }: { readonly name: string }) => name === proxyName;
  if (spec.initContainers?.find(isProxy)?.restartPolicy === 'Always') return true;
  return nativeSidecars && !spec.containers.some(isProxy);
}
