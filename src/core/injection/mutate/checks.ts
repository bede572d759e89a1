import type { Container, Pod, VolumeMount } from '../../kubernetes/pod.ts';
import type { InjectionDefaults, InjectionPlan, Surroundings } from '../contract.ts';
import { choiceMistakes, chosenContainers } from './chosen.ts';
import { deliveryMistakes } from './delivery.ts';
import { resolvedPath } from './mount-path.ts';
import { certificateFolder, copierName, isInjected, proxyName, volumeNames, wrapperFolder } from './names.ts';
import { leavesCommandToImage } from './original-command.ts';
import { proxyPort, takenPorts } from './ports.ts';
import { cloudIdentity } from './proxy-identity.ts';
import { proxyIsSidecar } from './proxy-place.ts';
import { secretMistakes } from './secret-variables.ts';

/** What is wrong with pod and plan before anything is changed, each a sentence that says where. */
export function mistakesIn(
  pod: Pod,
  plan: InjectionPlan,
  defaults: InjectionDefaults,
  surroundings: Surroundings,
): string[] {
  return [
    ...choiceMistakes(pod, plan),
    ...reservedNames(pod, plan, defaults, surroundings),
    ...deliveryMistakes(defaults, surroundings.podSecurity),
    ...secretMistakes(plan.secrets),
    ...commandMistakes(pod, plan),
    ...shadowingMounts(pod, plan),
    ...proxyMistakes(pod, plan),
  ];
}

function commandMistakes(pod: Pod, plan: InjectionPlan): readonly string[] {
  if (plan.command === undefined) return [];
  const open = chosenContainers(pod, plan).filter(leavesCommandToImage);
  if (new Set(open.map(({ image }) => image)).size <= 1) return [];
  const names = open.map(({ name }) => name).join(', ');
  return [`svc/command: speaks of one image, and the containers ${names} have several; set command in them`];
}

/** A mount below the wrapper's folder would hide a part of it. */
function shadowingMounts(pod: Pod, plan: InjectionPlan): readonly string[] {
  return chosenContainers(pod, plan).flatMap(({ name, volumeMounts = [] }) =>
    volumeMounts
      .filter(hidesPart)
      .map(
        (mount) =>
          `container ${name}: ${wrapperFolder} is kept for the wrapper, and ${mount.name} is mounted at ${mount.mountPath}`,
      ),
  );
}

/** The certificates go there themselves; what else claims their place is noticed when they do. */
function hidesPart({ name, mountPath }: VolumeMount): boolean {
  const path = resolvedPath(mountPath);
  const inside = path.startsWith(`${wrapperFolder}/`);
  return inside && !(name === volumeNames.certificates && path === certificateFolder);
}

/** What keeps the proxy from working in this pod. */
function proxyMistakes(pod: Pod, plan: InjectionPlan): readonly string[] {
  if (!plan.proxy?.enabled) return [];
  const { variables } = cloudIdentity(chosenContainers(pod, plan), false);
  const portFree = !takenPorts(pod).has(proxyPort);
  const knowsStore = plan.proxy.upstream !== undefined || variables.length > 0;
  return [
    ...(portFree
      ? []
      : [`svc/s3-proxy: the proxy listens on ${proxyPort}, and a container of the pod uses that port`]),
    ...(knowsStore
      ? []
      : [
          'svc/proxy-upstream: should be the URL of the object store, because no wrapped container has AWS_REGION',
        ]),
  ];
}

/** Containers of the user's that bear a name of the operator's own: such a one would go unwrapped. */
function reservedNames(
  pod: Pod,
  { proxy }: InjectionPlan,
  { wrapperDelivery }: InjectionDefaults,
  surroundings: Surroundings,
): readonly string[] {
  const { spec } = pod;
  const withProxy = proxy?.enabled === true;
  const isSidecar = proxyIsSidecar(pod, surroundings);
  const expectedFirst = [
    ...(wrapperDelivery === 'copy' ? [copierName] : []),
    ...(withProxy && isSidecar ? [proxyName] : []),
  ];
  const expected = withProxy && !isSidecar ? [proxyName] : [];
  return [...unexpected(spec.initContainers ?? [], expectedFirst), ...unexpected(spec.containers, expected)];
}

const unexpected = (containers: readonly Container[], expected: readonly string[]): readonly string[] =>
  containers
    .filter((container) => isInjected(container) && !expected.includes(container.name))
    .map(({ name }) => `container ${name}: the name is kept for the operator's own container`);
