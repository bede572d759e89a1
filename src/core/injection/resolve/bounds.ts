import type { Container, Pod } from '../../kubernetes/pod.ts';
import { containersOf } from '../protected-pods.ts';
import { annotations } from './annotations.ts';

/**
 * Far above any need. Webhooks see pods before the API server validates them, so without bounds one pod could occupy
 * the webhook for minutes.
 */
const most = {
  containers: 500,
  volumes: 1_000,
  labels: 10_000,
  annotations: 100,
  /** Characters of names and values; the API server allows 256 KiB for all annotations together. */
  annotationText: 256 * 1024,
  secretPaths: 1_000,
  secretMappings: 64,
  containerNames: 500,
  /** Of a container's command and arguments together: neither Linux nor the wrapper starts much more. */
  words: 10_000,
  commandText: 256 * 1024,
  /** The same of all containers together. */
  allCommandText: 512 * 1024,
  /** Environment, ports and mounts of a container, each. */
  items: 10_000,
} as const;

/** Errors for excessive input, found without building anything from it; if there are any, no others are looked for. */
export function boundErrors(pod: Pod, given: Readonly<Record<string, string>>): string[] {
  const { metadata, spec } = pod;
  const { containers, initContainers = [], volumes = [] } = spec;
  const sizes = [
    ...beyond('spec.containers', 'containers', containers.length + initContainers.length, most.containers),
    ...beyond('spec.volumes', 'volumes', volumes.length, most.volumes),
    ...beyond('metadata.labels', 'labels', Object.keys(metadata.labels ?? {}).length, most.labels),
    ...annotationErrors(given),
  ];
  if (sizes.length > 0) return sizes;
  const all = containersOf(pod);
  const length = all.reduce((sum, one) => sum + commandLength(one), 0);
  return [
    ...all.flatMap(containerErrors),
    ...beyond('spec.containers', 'characters of command and args', length, most.allCommandText),
  ];
}

function annotationErrors(given: Readonly<Record<string, string>>): string[] {
  const entries = Object.entries(given);
  const length = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  const sizes = [
    ...beyond('metadata.annotations', 'annotations of svc', entries.length, most.annotations),
    ...beyond('metadata.annotations', 'characters', length, most.annotationText),
  ];
  if (sizes.length > 0) return sizes;
  const items = ({ name }: { readonly name: string }) => given[name]?.split(',').length ?? 0;
  const { secretPaths, secretMapping, containers } = annotations;
  return [
    ...beyond(secretPaths.name, 'paths', items(secretPaths), most.secretPaths),
    ...beyond(secretMapping.name, 'names', items(secretMapping), most.secretMappings),
    ...beyond(containers.name, 'names', items(containers), most.containerNames),
  ];
}

function containerErrors(container: Container): string[] {
  const { name, command = [], args = [], env = [], ports = [], volumeMounts = [] } = container;
  const place = (member: string) => `container ${name.slice(0, longestName)}, ${member}`;
  return [
    ...beyond(place('command and args'), 'words', command.length + args.length, most.words),
    ...beyond(place('command and args'), 'characters', commandLength(container), most.commandText),
    ...beyond(place('env'), 'variables', env.length, most.items),
    ...beyond(place('ports'), 'ports', ports.length, most.items),
    ...beyond(place('volumeMounts'), 'mounts', volumeMounts.length, most.items),
  ];
}

const commandLength = ({ command = [], args = [] }: Container): number =>
  [command, args].reduce((sum, words) => words.reduce((length, word) => length + word.length, sum), 0);

const longestName = 63;

function beyond(place: string, what: string, count: number, limit: number): string[] {
  return count > limit ? [`${place}: should have at most ${limit} ${what}, has ${count}`] : [];
}
