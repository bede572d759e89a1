import type {
  Container,
  ContainerSecurityContext,
  LifecycleHandler,
  Pod,
  Resources,
  Volume,
  VolumeMount,
} from '../../kube/pod.ts';
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

/** State that the steps of one mutation share. */
export interface Context {
  /** The pod as received. */
  readonly pod: Pod;
  readonly plan: InjectionPlan;
  readonly defaults: InjectionDefaults;
  readonly surroundings: MutationEnvironment;
  readonly ports: Ports;
  readonly folder: FolderDelivery;
  readonly certificates: Shared | undefined;
  /** For the proxy only. */
  readonly storeCertificates: Shared | undefined;
  readonly token: Shared;
  /** Undefined: callers of the proxy need no keys. */
  readonly callerKeys: CallerKeys | undefined;
  readonly remarks: Diagnostics;
}

/** A volume with its mount. */
export interface Shared {
  readonly volume: Volume;
  readonly mount: VolumeMount;
}

/** Errors deny the pod; warnings are shown to the person who applied it. */
export interface Diagnostics {
  readonly errors: string[];
  readonly warnings: string[];
}

const firstHealthPort = 8081;
export const proxyPort = 8190;
const firstProxyHealthPort = 8191;

interface Ports {
  /** Port of each wrapped container's health endpoint, by container name. */
  readonly health: ReadonlyMap<string, number>;
  readonly proxyHealth: number;
}

/** Assigns ports that the pod's own containers neither declare nor are probed at. */
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

/** All ports that the user's containers declare, or that their probes or hooks use by number. */
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

/** A container keeps its port if the webhook is called again. */
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

/** How the wrapper's folder gets into a pod. */
interface FolderDelivery {
  readonly volume: Volume;
  readonly mount: VolumeMount;
  /** The init container that fills the volume. */
  readonly copier: Container | undefined;
}

const copyTarget = '/svc-target';
/** A link maintained by the node agent's init container; the runtime follows it when it starts a container. */
const hostFolder = '/var/lib/svc/wrapper/current';

/** The folder takes 90 MB. */
const sizeLimit = '256Mi';
const copierNeeds: Needs = {
  requests: { cpu: '10m', memory: '32Mi' },
  limits: { cpu: '500m', memory: '128Mi' },
};

/** An image volume shows the image's whole root, where the folder has the same path. */
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

/** Reasons why the operator's settings do not allow delivering the folder to pods of this namespace. */
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

/** Requests and limits of an added container; a pod of class Guaranteed stays in it. */
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

/** User of the operator's own images. */
const unprivilegedUser = 65_532;

/**
 * Security context of an added container, which satisfies the level `restricted`. It runs as the pod's user, or else as
 * its image's user, which is not root; if the pod's user is root, as another user.
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
 * Whether the proxy is a native sidecar. A proxy that is already in the pod stays what it is: during a cluster upgrade
 * replicas may differ in whether they support sidecars, and must accept each other's pods.
 */
export function proxyIsSidecar({ spec }: Pod, { nativeSidecars }: MutationEnvironment): boolean {
  const isProxy = ({ name }: { readonly name: string }) => name === proxyName;
  if (spec.initContainers?.find(isProxy)?.restartPolicy === 'Always') return true;
  return nativeSidecars && !spec.containers.some(isProxy);
}
