import type { KnownPod } from '../../core/cluster/known.ts';
import { addressVariables } from '../../core/egress/variables.ts';
import { proxyName, wrapperProgram } from '../../core/injection/mutate/names.ts';
import { isOurs } from '../../core/injection/resolve/given-annotations.ts';
import type { Container, EnvironmentVariable, Pod, PodMetadata, PodSpec } from '../../core/kubernetes/pod.ts';
import { scoredVariables } from '../../core/score/variables.ts';
import { type KubeObject, keyOf } from '../kube/objects.ts';
import type { Intern } from './intern.ts';

export type PodObject = KubeObject & Pod;

/** Of a template everything is optional. */
export interface PodTemplate {
  readonly metadata?: PodMetadata;
  readonly spec?: PodSpec;
}

/** What is kept of a pod. */
export function projectPod(object: PodObject, intern: Intern): KnownPod {
  const { name, uid, namespace = '' } = object.metadata;
  const phase = object.status?.phase;
  const pod: Pod = {
    metadata: {
      ...pick(object.metadata, ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp']),
      ...projectMetadata(object.metadata, intern),
    },
    spec: projectSpec(object.spec, intern),
    ...(phase === undefined ? {} : { status: { phase } }),
  };
  return { key: keyOf(object), namespace, name, uid, pod };
}

/** What is kept of the pods that a workload makes. */
export function projectTemplate({ metadata = {}, spec }: PodTemplate, intern: Intern): Pod {
  return {
    metadata: projectMetadata(metadata, intern),
    spec: projectSpec(spec ?? { containers: [] }, intern),
  };
}

/** What marks a static pod, which cannot be protected. */
const mirror = 'kubernetes.io/config.mirror';

function projectMetadata(metadata: PodMetadata, intern: Intern): PodMetadata {
  const { labels, annotations = {}, ownerReferences } = metadata;
  const ours = Object.entries(annotations).filter(([name]) => isOurs(name) || name === mirror);
  return {
    ...(labels && { labels: intern(labels) }),
    ...(ours.length > 0 && { annotations: intern(Object.fromEntries(ours)) }),
    ...(ownerReferences && { ownerReferences: intern(ownerReferences) }),
  };
}

function projectSpec(spec: PodSpec, intern: Intern): PodSpec {
  const { initContainers, ephemeralContainers, volumes, nodeName, nodeSelector, ...rest } = spec;
  const shared = {
    ...pick(rest, [
      ...(['serviceAccountName', 'automountServiceAccountToken', 'hostNetwork', 'hostPID'] as const),
      ...(['shareProcessNamespace', 'os', 'restartPolicy', 'securityContext'] as const),
    ]),
    containers: rest.containers.map(projectContainer),
    ...(initContainers && { initContainers: initContainers.map(projectContainer) }),
    ...(ephemeralContainers && { ephemeralContainers: ephemeralContainers.map(projectContainer) }),
    ...(volumes && { volumes: volumes.map(projectMember) }),
    ...(nodeSelector && { nodeSelector }),
  };
  const interned = intern(shared);
  return nodeName === undefined ? interned : { ...interned, nodeName };
}

const scored: ReadonlySet<string> = new Set(scoredVariables);
const addresses: ReadonlySet<string> = new Set(addressVariables);

/** Arguments may carry secrets: of them, only that they are there is kept, and of the command the program. */
function projectContainer(container: Container): Container {
  const { command, args, env, volumeMounts } = container;
  const isOurs = command?.[0] === wrapperProgram || container.name === proxyName;
  return {
    ...pick(container, ['name', 'image', 'envFrom', 'securityContext', 'restartPolicy']),
    ...(command && { command: command.map(projectWord) }),
    ...(args && { args: args.map(() => '') }),
    ...(env && { env: env.map((one) => projectVariable(one, isOurs)) }),
    ...(volumeMounts && { volumeMounts: volumeMounts.map(projectMember) }),
  };
}

/** The `--` after the program is how a container that has none in its image is wrapped. */
function projectWord(word: string, index: number): string {
  return index === 0 || (index === 1 && word === '--') ? word : '';
}

/** @param isOurs the container starts the wrapper, or is the proxy */
function projectVariable(
  { name, value, valueFrom }: EnvironmentVariable,
  isOurs: boolean,
): EnvironmentVariable {
  if (valueFrom !== undefined) return { name, valueFrom };
  const isKept = scored.has(name) || (isOurs && addresses.has(name));
  return value !== undefined && isKept ? { name, value } : { name };
}

/** The API server makes a volume of its own for each pod's token, with a random name: under one name pods are alike. */
const tokenVolume = /^kube-api-access-[a-z0-9]{5}$/;

/** Of `volumes` or `volumeMounts`. */
function projectMember<T extends { readonly name: string }>(member: T): T {
  return tokenVolume.test(member.name) ? { ...member, name: 'kube-api-access' } : member;
}

/** An object with those of the named members that are there. */
function pick<T extends object, K extends keyof T>(value: T, names: readonly K[]): Pick<T, K> {
  const picked: Partial<Pick<T, K>> = {};
  for (const name of names) if (value[name] !== undefined) picked[name] = value[name];
  return picked as Pick<T, K>;
}
