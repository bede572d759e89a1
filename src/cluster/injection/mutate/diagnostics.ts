import { cut, cutList, messagesOn } from '../../../runtime/bounds/foreign-text.ts';
import type { Container, Pod, VolumeMount } from '../../kube/pod.ts';
import type { InjectionDefaults, InjectionPlan, MutationEnvironment } from '../contract.ts';
import {
  certificateFolder,
  choiceErrors,
  chosenContainers,
  copierName,
  isInjected,
  isWrittenWrapped,
  proxyName,
  volumeNames,
  wrapperFolder,
} from '../protected-pods.ts';
import { resolvedPath, secretErrors } from './additions.ts';
import { leavesCommandToImage, unlockable } from './application-process.ts';
import { deliveryErrors, proxyIsSidecar, proxyPort, takenPorts } from './context.ts';
import { cloudIdentity, credentialServers, credentialSource } from './proxy-container.ts';

/** Errors found in pod and plan before any change, each a sentence that names the place. */
export function errorsIn(
  pod: Pod,
  plan: InjectionPlan,
  defaults: InjectionDefaults,
  surroundings: MutationEnvironment,
): string[] {
  return [
    ...choiceErrors(pod, plan),
    ...reservedNames(pod, plan, defaults, surroundings),
    ...deliveryErrors(defaults, surroundings.podSecurity),
    ...secretErrors(plan.secrets),
    ...commandErrors(pod, plan),
    ...shadowingMounts(pod, plan),
    ...proxyErrors(pod, plan),
  ];
}

function commandErrors(pod: Pod, plan: InjectionPlan): readonly string[] {
  if (plan.command === undefined) return [];
  const open = chosenContainers(pod, plan).filter(leavesCommandToImage);
  if (new Set(open.map(({ image }) => image)).size <= 1) return [];
  const names = cutList(open.map(({ name }) => name));
  return [`svc/command: is for one image, and the containers ${names} have several; set command in them`];
}

/** A mount inside the wrapper's folder would hide a part of it. */
function shadowingMounts(pod: Pod, plan: InjectionPlan): readonly string[] {
  const hiding = chosenContainers(pod, plan).flatMap(({ name, volumeMounts = [] }) =>
    volumeMounts.filter(hidesPart).map((mount) => ({ name, mount })),
  );
  return messagesOn(
    hiding,
    ({ name, mount }) =>
      `container ${cut(name)}: ${wrapperFolder} is reserved for the wrapper, and ${cut(mount.name)} is mounted at ${cut(mount.mountPath)}`,
  );
}

/** The certificates are mounted inside the folder; conflicts with their mount are reported when it is added. */
function hidesPart({ name, mountPath }: VolumeMount): boolean {
  const path = resolvedPath(mountPath);
  const inside = path.startsWith(`${wrapperFolder}/`);
  return inside && !(name === volumeNames.certificates && path === certificateFolder);
}

/** Reasons why the proxy would not work in this pod. */
function proxyErrors(pod: Pod, plan: InjectionPlan): readonly string[] {
  if (!plan.proxy?.enabled) return [];
  const { variables } = cloudIdentity(chosenContainers(pod, plan), false);
  const portFree = !takenPorts(pod).has(proxyPort);
  const knowsStore = plan.proxy.upstream !== undefined || variables.length > 0;
  return [
    ...(portFree
      ? []
      : [`svc/s3-proxy: the proxy listens on ${proxyPort}, a port that a container of the pod uses`]),
    ...(knowsStore
      ? []
      : [
          'svc/proxy-upstream: should be the URL of the object store, because no wrapped container has AWS_REGION',
        ]),
  ];
}

/** Users' containers with a name of the operator's, which would not be wrapped. */
function reservedNames(
  pod: Pod,
  { proxy }: InjectionPlan,
  { wrapperDelivery }: InjectionDefaults,
  surroundings: MutationEnvironment,
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
    .map(({ name }) => `container ${name}: the name is reserved for the operator's own container`);

/** Warnings on unexpected or weaker protection; a sentence each. */
export function warningsFor(
  pod: Pod,
  plan: InjectionPlan,
  surroundings: MutationEnvironment,
  chosen: readonly Container[],
): string[] {
  return [
    ...memoryWarnings(pod, surroundings, chosen),
    ...(plan.vault.skipVerify
      ? ['The certificate of the secrets server is not verified, for development only.']
      : []),
    ...(pod.spec.hostPID ? ['hostPID: processes of the node and of this pod see each other.'] : []),
    ...(idleCommand(plan, chosen)
      ? ['svc/command is ignored: the pod sets the commands of its containers.']
      : []),
    ...proxyWarnings(plan, chosen),
    ...(endlessProxy(pod, plan, surroundings)
      ? ['The pod will not complete while the proxy runs: sidecars that end with it need Kubernetes 1.29.']
      : []),
  ];
}

function memoryWarnings(pod: Pod, surroundings: MutationEnvironment, chosen: readonly Container[]): string[] {
  return chosen.flatMap((container) => {
    const reason = unlockable(pod, container, surroundings);
    return reason === undefined
      ? []
      : [
          `container ${cut(container.name)}: its memory is not locked as a whole and it does not register with the node agent, because ${reason}.`,
        ];
  });
}

const idleCommand = ({ command }: InjectionPlan, chosen: readonly Container[]): boolean =>
  command !== undefined && !chosen.some((one) => leavesCommandToImage(one) || isWrittenWrapped(one));

const endlessProxy = (pod: Pod, { proxy }: InjectionPlan, surroundings: MutationEnvironment): boolean =>
  proxy?.enabled === true &&
  !proxyIsSidecar(pod, surroundings) &&
  ['Never', 'OnFailure'].includes(pod.spec.restartPolicy ?? 'Always');

/** Warns if the proxy must request credentials from a server that no egress policy allows by default. */
function proxyWarnings({ proxy }: InjectionPlan, chosen: readonly Container[]): string[] {
  if (!proxy?.enabled || proxy.credentialsSecret !== undefined) return [];
  const { variables } = cloudIdentity(chosen, true);
  const source = credentialSource(new Set(variables.map(({ name }) => name)));
  if (source === 'given' || source === 'role') return [];
  const { name, address, port } = credentialServers[source];
  return [
    `svc-proxy: asks ${name} for credentials, which egress policies do not allow unless spec.egress of a ServiceConfig names ${address}/32 port ${port}.`,
  ];
}
