import { cut, messagesOn } from '../../../runtime/bounds/foreign-text.ts';
import { isConfiguredImage } from '../../images/reference.ts';
import { protectedLabel, proxyLabel } from '../../kube/labels.ts';
import type { Container, Pod, PodSpec, Volume, VolumeMount } from '../../kube/pod.ts';
import type { InjectionDefaults, InjectionPlan, Mutation, MutationEnvironment } from '../contract.ts';
import {
  certificateFolder,
  chosenContainers,
  copierName,
  isInjected,
  isWrittenWrapped,
  volumeNames,
} from '../protected-pods.ts';
import {
  addVolume,
  callerKeysOf,
  callerWarnings,
  covers,
  isAutomounted,
  isSameMount,
  ownToken,
  withTokenRenamed,
} from './additions.ts';
import { assignPorts, type Context, folderDelivery, proxyIsSidecar, type Shared } from './context.ts';
import { errorsIn, warningsFor } from './diagnostics.ts';
import { asSidecar, proxyContainer, spool, storeAuthorities } from './proxy-container.ts';
import { wrapContainer } from './wrap-container.ts';

/**
 * The mutated pod: its chosen containers run under the wrapper, and the proxy is added if the plan says so. Nothing of
 * the pod's own is removed. Mutating the result again changes nothing, even if others have added to it in between.
 */
export function mutatePod(
  given: Pod,
  plan: InjectionPlan,
  defaults: InjectionDefaults,
  surroundings: MutationEnvironment,
): Mutation {
  const pod = withTokenRenamed(given);
  const errors = errorsIn(pod, plan, defaults, surroundings);
  const chosen = chosenContainers(pod, plan);
  const context: Context = {
    ...{ pod, plan, defaults, surroundings },
    ports: assignPorts(pod, chosen),
    folder: folderDelivery(pod, defaults),
    certificates: certificates(defaults.caConfigMap),
    storeCertificates: plan.proxy?.enabled ? storeAuthorities(plan.proxy, defaults) : undefined,
    token: ownToken(pod, plan.vault.tokenAudience),
    callerKeys: callerKeysOf(pod, plan, surroundings),
    remarks: { errors, warnings: warningsFor(pod, plan, surroundings, chosen) },
  };
  context.remarks.warnings.push(...callerWarnings(plan, chosen, context.callerKeys));
  const wrapped = wrapChosen(chosen, context);
  errors.push(...strayMounts(wrapped.spec, new Set(chosen.map(({ name }) => name)), wrapped.shared));
  const spec = addProxy(addCopier(wrapped.spec, context), context);
  if (errors.length > 0) return { kind: 'deny', errors };
  return {
    kind: 'pod',
    pod: { ...pod, metadata: labelled(pod, plan), spec },
    warnings: context.remarks.warnings,
  };
}

interface Wrapped {
  readonly spec: PodSpec;
  readonly shared: readonly Shared[];
}

function wrapChosen(chosen: readonly Container[], context: Context): Wrapped {
  const { spec } = context.pod;
  const shared: Shared[] = [];
  const wrap = (container: Container): Container => {
    if (!chosen.includes(container)) return container;
    const wrapped = wrapContainer(container, context);
    shared.push(...wrapped.shared);
    return wrapped.container;
  };
  const initContainers = spec.initContainers?.map(wrap);
  const containers = spec.containers.map(wrap);
  const volumes = shared.reduce((into, { volume }) => addVolume(into, volume, context), spec.volumes ?? []);
  const initial = initContainers === undefined ? {} : { initContainers };
  return { spec: { ...spec, ...initial, containers, volumes }, shared };
}

/** Placed before every init container that starts with the wrapper. */
function addCopier(spec: PodSpec, context: Context): PodSpec {
  const { folder } = context;
  if (folder.copier === undefined) return spec;
  const { initContainers = [] } = spec;
  const first = initContainers.findIndex(isWrittenWrapped);
  const place = { at: 0, latest: first === -1 ? initContainers.length : first };
  return { ...spec, initContainers: placeContainer(initContainers, folder.copier, place, context) };
}

function labelled({ metadata }: Pod, { proxy }: InjectionPlan): Pod['metadata'] {
  const labels = { [protectedLabel]: 'true', ...(proxy?.enabled ? { [proxyLabel]: 'true' } : {}) };
  return { ...metadata, labels: { ...metadata.labels, ...labels } };
}

/** Only the operator's key of the config map, because every file in the folder is trusted. */
const volume = (configMap: string): Volume => ({
  name: volumeNames.certificates,
  configMap: { name: configMap, items: [{ key: 'ca.crt', path: 'ca.crt' }] },
});

/** The private CAs, where wrapper and proxy look for them by default. */
const certificates = (configMap: string | undefined): Shared | undefined =>
  configMap === undefined ? undefined : { volume: volume(configMap), mount };

const mount: VolumeMount = {
  name: volumeNames.certificates,
  mountPath: certificateFolder,
  readOnly: true,
};

/** Adds the proxy, ahead of all other containers if the cluster supports sidecars. */
function addProxy(spec: PodSpec, context: Context): PodSpec {
  const { pod, plan, surroundings, certificates, storeCertificates, token } = context;
  if (!plan.proxy?.enabled) return spec;
  const proxy = proxyContainer(context, plan.proxy);
  const authorities = [certificates, storeCertificates].filter((one) => one !== undefined);
  const wanted = [token.volume, spool, ...authorities.map(({ volume }) => volume)];
  const volumes = wanted.reduce((into, volume) => addVolume(into, volume, context), spec.volumes ?? []);
  const { containers, initContainers = [] } = spec;
  const place = (list: readonly Container[], container: Container, at: number) =>
    placeContainer(list, container, { at, latest: list.length }, context);
  if (!proxyIsSidecar(pod, surroundings)) {
    return { ...spec, volumes, containers: place(containers, proxy, containers.length) };
  }
  const behindCopier = initContainers.findIndex(({ name }) => name === copierName) + 1;
  return {
    ...spec,
    volumes,
    initContainers: place(initContainers, asSidecar(proxy), behindCopier),
  };
}

export interface ContainerPlace {
  /** Its position if it is not present yet. */
  readonly at: number;
  /** Its last allowed position; a later one is moved to `at`. */
  readonly latest: number;
}

/** Adds or updates one of the operator's own containers, which keeps its position if it is already present. */
function placeContainer(
  containers: readonly Container[],
  wanted: Container,
  { at, latest }: ContainerPlace,
  context: Pick<Context, 'defaults' | 'remarks'>,
): readonly Container[] {
  const index = containers.findIndex(({ name }) => name === wanted.name);
  const there = containers[index];
  if (there === undefined) return containers.toSpliced(at, 0, wanted);
  const container = ownContainer(there, wanted, context);
  return index <= latest
    ? containers.with(index, container)
    : containers.toSpliced(index, 1).toSpliced(at, 0, container);
}

/**
 * Reports the operator's volumes where users mount them differently: an init container that mounts the wrapper's folder
 * could replace the program, and a sidecar that mounts the token could log in as the application.
 * @param wrapped names of the containers that get the shared volumes
 */
function strayMounts(
  { containers, initContainers = [] }: PodSpec,
  wrapped: ReadonlySet<string>,
  shared: readonly Shared[],
): string[] {
  const added = new Map(shared.map(({ volume, mount }) => [volume.name, mount]));
  const isStray = (container: Container) => (mount: VolumeMount) => {
    const wanted = added.get(mount.name);
    return wanted !== undefined && !(wrapped.has(container.name) && isSameMount(mount, wanted));
  };
  const stray = [...initContainers, ...containers]
    .filter((container) => !isInjected(container))
    .flatMap((container) => {
      const mounts = (container.volumeMounts ?? []).filter(isStray(container));
      return mounts.map((mount) => ({ mount, container }));
    });
  return messagesOn(
    stray,
    ({ mount, container }) =>
      `container ${cut(container.name)}: mounts ${mount.name} at ${cut(mount.mountPath)}, a volume of the operator`,
  );
}

/** Fields that the API server and its plugins fill in; they do not change a container's program. */
const filledIn = [
  'imagePullPolicy',
  'resizePolicy',
  'resources',
  'terminationMessagePath',
  'terminationMessagePolicy',
];
/** Fields of the security context that are filled in: some platforms assign users and labels by namespace. */
const filledInSecurity = ['runAsUser', 'runAsGroup', 'seLinuxOptions'];
const probes = ['readinessProbe', 'startupProbe'] as const;

/**
 * The desired state of one of the operator's own containers. An existing one, because the webhook is called again or
 * the pod was copied from one that an older operator mutated, is rebuilt; only filled-in fields and the same image from
 * a configured mirror are kept. Everything else is dropped, as a foreign variable or mount could turn the container,
 * with its token, into another program.
 */
function ownContainer(
  there: Container,
  wanted: Container,
  { defaults, remarks }: Pick<Context, 'defaults' | 'remarks'>,
): Container {
  if (!isOurs(there, wanted)) {
    remarks.errors.push(`container ${wanted.name}: the name is reserved for the operator's own container`);
  }
  const isSame = isConfiguredImage(there.image, wanted.image, defaults.imageMirrors);
  const settled = probes.filter((name) => name in wanted && covers(there[name], wanted[name]));
  const mounts = there.volumeMounts?.filter(isAutomounted) ?? [];
  return {
    ...wanted,
    ...picked(there, [...filledIn, ...settled, ...(isSame ? ['image'] : [])]),
    securityContext: { ...picked(there.securityContext, filledInSecurity), ...wanted.securityContext },
    volumeMounts: [...(wanted.volumeMounts ?? []), ...mounts],
  };
}

/** Recognized by how it starts; arguments after the first word differ between versions. */
function isOurs(there: Container, wanted: Container): boolean {
  return there.command?.[0] === wanted.command?.[0] && there.args?.[0] === wanted.args?.[0];
}

/** Copies the named members that exist. */
function picked(from: object | undefined, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(from ?? {}).filter(([name]) => names.includes(name)));
}
