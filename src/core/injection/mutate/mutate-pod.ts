import { isConfiguredImage } from '../../image/reference.ts';
import { protectedLabel, proxyLabel } from '../../kubernetes/labels.ts';
import type { Container, Pod, PodSpec, Volume, VolumeMount } from '../../kubernetes/pod.ts';
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
 * The pod as it is to run: its chosen containers under the wrapper, with the proxy where the plan says so. Nothing of the
 * pod's own is taken away. What comes out of it goes through it unchanged, also when others have added to it in between.
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

/** Before every init container that starts with the wrapper. */
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

/** Only the operator's key of the config map: every file in the folder is trusted. */
const volume = (configMap: string): Volume => ({
  name: volumeNames.certificates,
  configMap: { name: configMap, items: [{ key: 'ca.crt', path: 'ca.crt' }] },
});

/** The private authorities, where wrapper and proxy look for them by themselves. */
const certificates = (configMap: string | undefined): Shared | undefined =>
  configMap === undefined ? undefined : { volume: volume(configMap), mount };

const mount: VolumeMount = {
  name: volumeNames.certificates,
  mountPath: certificateFolder,
  readOnly: true,
};

/** The pod's containers with the proxy, ahead of all others where the cluster knows sidecars. */
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

/** The containers with one of the operator's own, which keeps its place where it is there already. */
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
 * Volumes of the operator's own, mounted otherwise than it does. An init container that mounts the wrapper's folder could
 * put another program into it, and a sidecar that mounts the token could log in as the application does.
 * @param wrapped names of the containers that are given what is shared
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
  return [...initContainers, ...containers]
    .filter((container) => !isInjected(container))
    .flatMap((container) =>
      (container.volumeMounts ?? [])
        .filter(isStray(container))
        .map(
          ({ name, mountPath }) =>
            `container ${container.name}: mounts ${name} at ${mountPath}, and this volume is the operator's own`,
        ),
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
/** The same of its security context: some platforms have users and labels for each namespace. */
const filledInSecurity = ['runAsUser', 'runAsGroup', 'seLinuxOptions'];
const probes = ['readinessProbe', 'startupProbe'] as const;

/**
 * A container of the operator's own as it is to be. One that is there already, because the webhook is asked again or
 * the pod is a copy of one that has been through an older operator, is set anew, and keeps what is filled in and the same
 * image from a mirror that the operator is told of. All else goes: a variable or a mount of others would do to make
 * another program of it, with the token that it is given.
 */
function ownContainer(
  there: Container,
  wanted: Container,
  { defaults, remarks }: Pick<Context, 'defaults' | 'remarks'>,
): Container {
  if (!isOurs(there, wanted)) {
    remarks.errors.push(`container ${wanted.name}: the name is kept for the operator's own container`);
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

/** By how it starts; what follows the first word differs between versions. */
function isOurs(there: Container, wanted: Container): boolean {
  return there.command?.[0] === wanted.command?.[0] && there.args?.[0] === wanted.args?.[0];
}

/** Those members that are there. */
function picked(from: object | undefined, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(from ?? {}).filter(([name]) => names.includes(name)));
}
