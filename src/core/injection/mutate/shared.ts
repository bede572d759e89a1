import type { Volume, VolumeMount } from '../../kubernetes/pod.ts';

/** A volume, and how a container sees it. */
export interface Shared {
  readonly volume: Volume;
  readonly mount: VolumeMount;
}
