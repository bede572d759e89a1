import { cut } from '../../../runtime/bounds/foreign-text.ts';
import type { Container, Pod } from '../../kube/pod.ts';
import { containersOf } from '../protected-pods.ts';
import { annotations } from './annotations.ts';

/**
 * Far above any need. Webhooks see pods before the API server validates them, so without bounds one pod could occupy
 * the webhook for minutes.
 */
export const maxInPod = {
  containers: 500,
  volumes: 1_000,
  labels: 10_000,
  annotations: 100,
  /** Characters of names and values; the API server allows 256 KiB for all annotations together. */
  annotationText: 256 * 1024,
  secretPaths: 1_000,
  secretMappings: 64,
  containerNames: 500,
  /** More do not fit the wrapper's variable. */
  envMapItems: 32_768,
  /** Of a container's command and arguments together: neither Linux nor the wrapper starts much more. */
  words: 10_000,
  commandText: 256 * 1024,
  /** The same of all containers together. */
  allCommandText: 512 * 1024,
  /** Environment, ports and mounts of a container, each. */
  items: 10_000,
  /** Characters. Kubernetes allows 63 for most of these names, and 253 for some. */
  name: 253,
  /** As in Linux. */
  path: 4_096,
  image: 1_024,
  variableName: 1_024,
} as const;

/** Bytes of the settings and commands that are set in all wrapped containers of a pod together. */
export const maxAdditions = 1024 * 1024;
/** Bytes of a pod's containers and volumes with what is added to them; a pod takes at most 1.5 MiB in etcd, less than as JSON. */
export const maxPatch = 2.5 * 1024 * 1024;

/** Errors for excessive input, found without building anything from it; if there are any, no others are looked for. */
export function boundErrors(pod: Pod, given: Readonly<Record<string, string>>): string[] {
  const { metadata, spec } = pod;
  const { containers, initContainers = [], volumes = [], imagePullSecrets = [] } = spec;
  const sizes = [
    ...beyond(
      'spec.containers',
      'containers',
      containers.length + initContainers.length,
      maxInPod.containers,
    ),
    ...beyond('spec.volumes', 'volumes', volumes.length, maxInPod.volumes),
    ...tooLong('spec.volumes, name', namesOf(volumes), maxInPod.name),
    ...tooLong('spec.imagePullSecrets, name', namesOf(imagePullSecrets), maxInPod.name),
    ...tooLong('spec.serviceAccountName', [spec.serviceAccountName], maxInPod.name),
    ...tooLong('spec.nodeSelector', [spec.nodeSelector?.['kubernetes.io/arch']], maxInPod.name),
    ...beyond('metadata.labels', 'labels', Object.keys(metadata.labels ?? {}).length, maxInPod.labels),
    ...annotationErrors(given),
  ];
  if (sizes.length > 0) return sizes;
  const all = containersOf(pod);
  const length = all.reduce((sum, one) => sum + commandLength(one), 0);
  return [
    ...all.flatMap(containerErrors),
    ...beyond('spec.containers', 'characters of command and args', length, maxInPod.allCommandText),
  ];
}

function annotationErrors(given: Readonly<Record<string, string>>): string[] {
  const entries = Object.entries(given);
  const length = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  const sizes = [
    ...beyond('metadata.annotations', 'annotations of svc', entries.length, maxInPod.annotations),
    ...beyond('metadata.annotations', 'characters', length, maxInPod.annotationText),
  ];
  if (sizes.length > 0) return sizes;
  const items = ({ name }: { readonly name: string }) => given[name]?.split(/[,;]/).length ?? 0;
  const { secretPaths, secretMapping, containers, envMap } = annotations;
  return [
    ...beyond(secretPaths.name, 'paths', items(secretPaths), maxInPod.secretPaths),
    ...beyond(secretMapping.name, 'names', items(secretMapping), maxInPod.secretMappings),
    ...beyond(containers.name, 'names', items(containers), maxInPod.containerNames),
    ...beyond(envMap.name, 'items', items(envMap), maxInPod.envMapItems),
  ];
}

function containerErrors(container: Container): string[] {
  const { name, image, command = [], args = [], env = [], ports = [], volumeMounts = [] } = container;
  const place = (member: string) => `container ${cut(String(name))}, ${member}`;
  return [
    ...tooLong(place('name'), [name], maxInPod.name),
    ...tooLong(place('image'), [image], maxInPod.image),
    ...tooLong(place('env, name'), namesOf(env), maxInPod.variableName),
    ...tooLong(place('volumeMounts, name'), namesOf(volumeMounts), maxInPod.name),
    ...tooLong(
      place('volumeMounts, mountPath'),
      volumeMounts.map(({ mountPath }) => mountPath),
      maxInPod.path,
    ),
    ...beyond(place('command and args'), 'words', command.length + args.length, maxInPod.words),
    ...beyond(place('command and args'), 'characters', commandLength(container), maxInPod.commandText),
    ...beyond(place('env'), 'variables', env.length, maxInPod.items),
    ...beyond(place('ports'), 'ports', ports.length, maxInPod.items),
    ...beyond(place('volumeMounts'), 'mounts', volumeMounts.length, maxInPod.items),
  ];
}

const commandLength = ({ command = [], args = [] }: Container): number =>
  [command, args].reduce((sum, words) => words.reduce((length, word) => length + word.length, sum), 0);

type Texts = readonly (string | undefined)[];

const namesOf = (named: readonly { readonly name?: string }[]): Texts => named.map(({ name }) => name);

/** An error if one of the texts is too long; only the API server's own reviews are sure to have texts there. */
function tooLong(place: string, texts: Texts, limit: number): string[] {
  const long = texts.find(
    (text) => text !== undefined && !(typeof text === 'string' && text.length <= limit),
  );
  return long === undefined ? [] : [`${place}: should be text of at most ${limit} characters`];
}

function beyond(place: string, what: string, count: number, limit: number): string[] {
  return count > limit ? [`${place}: should have at most ${limit} ${what}, has ${count}`] : [];
}
