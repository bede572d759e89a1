import { maxAdditions, maxInPod, maxPatch } from '../../../src/cluster/injection/resolve/bounds.ts';
import { maxParts } from '../../../src/plugins/operator/webhook/review.ts';
import { largestReview } from '../../../src/plugins/operator/webhook/review-body.ts';
import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';

const inPod: Readonly<Record<keyof typeof maxInPod, string>> = {
  containers: 'containers of a pod, with its init containers',
  volumes: 'volumes of a pod',
  labels: 'labels of a pod',
  annotations: 'annotations of svc',
  annotationText: 'characters of their names and values',
  secretPaths: 'paths in `svc/secret-paths`',
  secretMappings: 'names in `svc/secret-mapping`',
  containerNames: 'names in `svc/containers`',
  envMapItems: 'items in `svc/env-map`',
  words: 'words of command and arguments of a container',
  commandText: 'characters of them',
  allCommandText: 'characters of them in all containers of a pod',
  items: 'variables, ports and mounts of a container, each',
  name: 'characters of the name of an object, a container or a volume',
  path: 'characters of a mount path',
  image: 'characters of an image',
  variableName: 'characters of the name of a variable',
};

const bounds: readonly (readonly [what: string, most: number])[] = [
  ...Object.entries(inPod).map(([name, what]) => [what, maxInPod[name as keyof typeof maxInPod]] as const),
  ['names and values in a whole review', maxParts],
  ['bytes of a review', largestReview],
  ['bytes of settings, and of commands, in all wrapped containers together', maxAdditions],
  ['bytes of containers and volumes with what svc adds to them', maxPatch],
];

/** Beyond which a pod that asks for protection is refused. */
export const boundTable = (): string[] =>
  markdownTable(
    ['at most', 'of what'],
    bounds.map(([what, most]) => [most.toLocaleString('en'), what]),
  );
