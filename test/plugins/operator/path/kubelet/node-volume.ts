import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Volume } from '../../../../../src/cluster/kube/pod.ts';
import type { NodeImage } from './oci-config.ts';

/** A volume as it is on the node. */
export interface NodeVolume {
  readonly path: string;
  /** Of each mount of it, whatever the container says. */
  readonly options: readonly string[];
}

/** What volumes are made of that the node itself has. */
export interface NodeStorage {
  readonly images: ReadonlyMap<string, NodeImage>;
  /** The folder that pods know as the node's root. */
  readonly hostRoot: string;
}

/** A volume of the node's own; undefined for those that are made for the pod. */
export function nodeVolume(
  { image, hostPath }: Volume,
  { images, hostRoot }: NodeStorage,
): NodeVolume | undefined {
  if (hostPath !== undefined) return { path: hostFolder(hostPath, hostRoot), options: [] };
  return image === undefined ? undefined : imageVolume(image.reference ?? '', images);
}

/** The whole root of the image, read-only. Source: https://kep.k8s.io/4639 */
function imageVolume(reference: string, images: NodeStorage['images']): NodeVolume {
  const image = images.get(reference);
  if (image === undefined) throw new Error(`the image ${reference} cannot be pulled`);
  return { path: image.root, options: ['ro', ...(image.volumeOptions ?? [])] };
}

/** A runtime follows a link when it starts a container. Source: kubernetes/pkg/volume/hostpath/host_path.go */
function hostFolder({ path, type }: NonNullable<Volume['hostPath']>, root: string): string {
  const place = join(root, path);
  if (type === 'Directory' && !statSync(place, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`hostPath type check failed: ${path} is not a directory`);
  mkdirSync(place, { recursive: true });
  return realpathSync(place);
}
