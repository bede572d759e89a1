import type { Pod } from '../../kubernetes/pod.ts';
import { annotations } from './annotations.ts';

/**
 * Far above what anybody needs. A webhook sees pods before the API server judges them, so that without bounds one pod
 * could keep it busy for minutes, while all others wait.
 */
const most = {
  containers: 500,
  volumes: 1_000,
  annotations: 100,
  /** Characters of names and values; the API server takes 256 KiB of all annotations together. */
  annotationText: 256 * 1024,
  secretMappings: 64,
  containerNames: 500,
} as const;

/** What there is too much of to look any further; nothing else is worth saying then. */
export function boundMistakes({ spec }: Pod, given: Readonly<Record<string, string>>): string[] {
  const { containers, initContainers = [], volumes = [] } = spec;
  const entries = Object.entries(given);
  const items = ({ name }: { readonly name: string }) => given[name]?.split(',').length ?? 0;
  return [
    ...beyond('spec.containers', 'containers', containers.length + initContainers.length, most.containers),
    ...beyond('spec.volumes', 'volumes', volumes.length, most.volumes),
    ...beyond('metadata.annotations', 'annotations of svc', entries.length, most.annotations),
    ...beyond('metadata.annotations', 'characters', entries.join('').length, most.annotationText),
    ...beyond(annotations.secretMapping.name, 'names', items(annotations.secretMapping), most.secretMappings),
    ...beyond(annotations.containers.name, 'names', items(annotations.containers), most.containerNames),
  ];
}

function beyond(place: string, what: string, count: number, limit: number): string[] {
  return count > limit ? [`${place}: should have at most ${limit} ${what}, has ${count}`] : [];
}
