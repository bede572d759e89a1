import { hash } from 'node:crypto';
import { hostsAnnotation } from '../egress/contract.ts';
import { addressVariables } from '../egress/wanted.ts';
import { concernsEgress, isWellFormed, type ObservedPolicy, type ObservedSpec } from '../egress/widening.ts';
import { proxyName, wrapperProgram } from '../injection/protected-pods.ts';
import { annotationNames, isOurs } from '../injection/resolve/annotations.ts';
import type {
  SecretMappingSpec,
  SecretMappingStatus,
  ServiceConfigSpec,
  ServiceConfigStatus,
} from '../resources/resources.ts';
import { scoredVariables } from '../score/wrapper-reports.ts';
import { type KubeObject, keyOf, type ObjectMeta } from './client.ts';
import { shareInRoom } from './kept-room.ts';
import {
  controllerOf,
  type KnownNamespace,
  type KnownPod,
  type KnownSecretMapping,
  type KnownServiceConfig,
  type KnownWorkload,
} from './known-objects.ts';
import { hasOtherWriters, isOperators, type OwnedMetadata, protectedLabel, proxyLabel } from './labels.ts';
import type { Container, EnvironmentVariable, OwnerReference, Pod, PodMetadata, PodSpec } from './pod.ts';

export type PodObject = KubeObject & Pod;

/** Everything in a template is optional. */
interface PodTemplate {
  readonly metadata?: PodMetadata;
  readonly spec?: PodSpec;
}

/** The parts of a pod that are kept. */
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

/** The parts of a workload's pod template that are kept. */
function projectTemplate({ metadata = {}, spec }: PodTemplate, intern: Intern): Pod {
  return {
    metadata: projectMetadata(metadata, intern),
    spec: projectSpec(spec ?? { containers: [] }, intern),
  };
}

/**
 * JSON characters that are kept of a pod's labels, of its annotations and of its spec; a usual pod has some thousand.
 * Pods of 1.5 MB each, which anybody with a namespace can create, would fill the operator's memory for good.
 */
const maxKept = 64 * 1024;

export const isTooLong = (value: object, max = maxKept): boolean => JSON.stringify(value).length > max;

/** Marks a static pod, which cannot be protected. */
const mirror = 'kubernetes.io/config.mirror';

function projectMetadata(metadata: PodMetadata, intern: Intern): PodMetadata {
  const { labels, annotations = {}, ownerReferences } = metadata;
  const ours = Object.entries(annotations).filter(([name]) => isOurs(name) || name === mirror);
  return {
    ...(labels && { labels: intern(isTooLong(labels) ? shortOnes(labels) : labels) }),
    ...(ours.length > 0 && { annotations: intern(shortOnes(Object.fromEntries(ours))) }),
    ...(ownerReferences && { ownerReferences: intern(ownerReferences.slice(0, 16)) }),
  };
}

/** They say what becomes of a pod. */
const knownNames: ReadonlySet<string> = new Set([protectedLabel, proxyLabel, mirror, ...annotationNames]);

/** All of them, or the known ones with a short text and some more of ours. */
function shortOnes(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (!isTooLong(texts)) return texts;
  const short = Object.entries(texts).filter(([, text]) => text.length < 256);
  const others = short.filter(([name]) => isOurs(name) && !knownNames.has(name));
  return Object.fromEntries([...short.filter(([name]) => knownNames.has(name)), ...others.slice(0, 128)]);
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
  const interned = intern(isTooLong(shared) ? skeleton(rest.containers) : shared);
  return nodeName === undefined ? interned : { ...interned, nodeName };
}

/** Without variables no container counts as wrapped. */
const skeleton = (containers: readonly Container[]): PodSpec => ({
  containers: containers
    .slice(0, 128)
    .map(({ name, command }) => ({ name, command: command?.slice(0, 1) ?? [] })),
});

const scored: ReadonlySet<string> = new Set(scoredVariables);
/** Of containers that start the wrapper, and of the proxy. */
const own: ReadonlySet<string> = new Set([...addressVariables, 'SVC_ENV_MAP_ONLY']);

/** Arguments may contain secrets, so only their presence is kept, and of the command only the program. */
function projectContainer(container: Container): Container {
  const { command, args, env, volumeMounts } = container;
  const isOurs = command?.[0] === wrapperProgram || container.name === proxyName;
  return {
    ...pick(container, ['name', 'image', 'envFrom', 'securityContext', 'restartPolicy']),
    ...(command && { command: command.slice(0, maxWords).map(projectWord) }),
    ...(args && { args: args.slice(0, 1).map(() => '') }),
    ...(env && { env: env.map((one) => projectVariable(one, isOurs)) }),
    ...(volumeMounts && { volumeMounts: volumeMounts.map(projectMember) }),
  };
}

/** Two words alone are not the form in which the webhook writes a wrapped container. */
const maxWords = 3;

/** `--` after the program shows the form for a wrapped container whose image has no command. */
function projectWord(word: string, index: number): string {
  return index === 0 || (index === 1 && word === '--') ? word : '';
}

/** @param isOurs the container starts the wrapper, or is the proxy */
function projectVariable(
  { name, value, valueFrom }: EnvironmentVariable,
  isOurs: boolean,
): EnvironmentVariable {
  if (valueFrom !== undefined) return { name, valueFrom };
  const isKept = scored.has(name) || (isOurs && own.has(name));
  return value !== undefined && isKept ? { name, value } : { name };
}

/** The API server adds a token volume with a random name to each pod; a fixed name makes similar pods equal. */
const tokenVolume = /^kube-api-access-[a-z0-9]{5}$/;

/** An item of `volumes` or `volumeMounts`. */
function projectMember<T extends { readonly name: string }>(member: T): T {
  return tokenVolume.test(member.name) ? { ...member, name: 'kube-api-access' } : member;
}

/** Picks those of the named members that exist. */
function pick<T extends object, K extends keyof T>(value: T, names: readonly K[]): Pick<T, K> {
  const picked: Partial<Pick<T, K>> = {};
  for (const name of names) if (value[name] !== undefined) picked[name] = value[name];
  return picked as Pick<T, K>;
}

export interface WorkloadObject extends KubeObject {
  readonly metadata: FullMeta;
  readonly spec?: {
    readonly template?: PodTemplate;
    readonly jobTemplate?: { readonly spec?: { readonly template?: PodTemplate } };
  };
}

/** @param kind the kind, since objects in a list do not name theirs */
export function projectWorkload(kind: string, object: WorkloadObject, intern: Intern): KnownWorkload {
  const { name, namespace = '', uid, ownerReferences } = object.metadata;
  const owner = controllerOf(ownerReferences);
  const template = object.spec?.template ?? object.spec?.jobTemplate?.spec?.template;
  return {
    ...{ kind, namespace, name, uid },
    owner: owner && { kind: owner.kind, name: owner.name },
    template: owner === undefined && template !== undefined ? projectTemplate(template, intern) : undefined,
  };
}

interface FullMeta extends ObjectMeta {
  readonly creationTimestamp?: string;
  readonly generation?: number;
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface CustomObject<Spec, Status> extends KubeObject {
  readonly metadata: FullMeta;
  readonly spec: Spec;
  readonly status?: Status;
}

export function projectNamespace({ metadata }: KubeObject): KnownNamespace {
  const { name, labels = {}, deletionTimestamp } = metadata;
  return { name, labels, terminating: deletionTimestamp !== undefined };
}

export function projectServiceConfig(
  object: CustomObject<ServiceConfigSpec, ServiceConfigStatus>,
): KnownServiceConfig {
  return { ...projectCustom(object), created: object.metadata.creationTimestamp ?? '' };
}

export function projectSecretMapping(
  object: CustomObject<SecretMappingSpec, SecretMappingStatus>,
): KnownSecretMapping {
  return projectCustom(object);
}

function projectCustom<Spec, Status extends object>(object: CustomObject<Spec, Status>) {
  const { name, namespace = '', uid, generation = 0 } = object.metadata;
  const status = object.status ?? ({} as Status);
  return { key: keyOf(object), namespace, name, uid, generation, spec: object.spec, status };
}

/** A network policy in the cluster, whoever made it. */
export interface KnownPolicy extends ObservedPolicy {
  readonly key: string;
  readonly namespace: string;
  readonly uid: string;
  readonly version: string;
  /** The operator maintains the policy: it has the operator's label, or was applied by the operator. */
  readonly ours: boolean;
  /**
   * Somebody else has written the policy too, for example from `svc netpol`, so it is not deleted with the last pod.
   */
  readonly shared: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Value of the annotation with the names that the policy stands for. */
  readonly hosts: string | undefined;
}

export type PolicyObject = KubeObject & {
  readonly spec?: ObservedSpec;
  readonly metadata: OwnedMetadata;
};

export function projectPolicy(object: PolicyObject): KnownPolicy {
  const { name, namespace = '', uid, resourceVersion, labels = {}, annotations = {} } = object.metadata;
  return {
    ...{ key: keyOf(object), namespace, name, uid, version: resourceVersion, labels },
    ours: isOperators(object.metadata),
    shared: hasOtherWriters(object.metadata),
    hosts: annotations[hostsAnnotation],
    spec: projectPolicySpec(object.spec ?? {}),
  };
}

/** Without rules for ingress. */
function projectPolicySpec(spec: ObservedSpec): ObservedSpec {
  if (!isWellFormed(spec)) return anyEgress;
  const { policyTypes = ['Ingress'] } = spec;
  if (!concernsEgress(spec)) return { policyTypes };
  const egress = pick(spec, ['podSelector', 'policyTypes', 'egress']);
  return isTooLong(egress, maxPolicy) ? anyEgress : egress;
}

/** JSON characters; a policy of ours with a thousand destinations has some hundred thousand. */
const maxPolicy = 256 * 1024;

/** Stands for a policy that is too long to be kept, or malformed: it is reported as one that widens what the namespace may reach. */
export const anyEgress: ObservedSpec = { podSelector: {}, policyTypes: ['Egress'], egress: [{}] };

/** Returns the same object for equal values. */
type Intern = <T extends object>(value: T) => T;

/**
 * Shares equal parts, because pods of one workload are nearly equal. Values must not be modified afterwards.
 * Unreferenced values are dropped.
 */
export function createIntern(): Intern {
  const known = new Map<string, WeakRef<object>>();
  const forget = new FinalizationRegistry<string>((digest) => {
    if (known.get(digest)?.deref() === undefined) known.delete(digest);
  });
  return <T extends object>(value: T): T => {
    const digest = hash('sha256', JSON.stringify(value), 'base64');
    const same = known.get(digest)?.deref();
    // equal JSON texts are equal values of the same type
    if (same !== undefined) return same as T;
    known.set(digest, new WeakRef(value));
    shareInRoom(value);
    forget.register(value, digest);
    return value;
  };
}
