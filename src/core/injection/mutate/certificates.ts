import type { Volume, VolumeMount } from '../../kubernetes/pod.ts';
import { certificateFolder, volumeNames } from './names.ts';
import type { Shared } from './shared.ts';

/** Of all that somebody may put beside it, the operator's own key alone: every file in the folder is trusted. */
const volume = (configMap: string): Volume => ({
  name: volumeNames.certificates,
  configMap: { name: configMap, items: [{ key: 'ca.crt', path: 'ca.crt' }] },
});

const mount: VolumeMount = {
  name: volumeNames.certificates,
  mountPath: certificateFolder,
  readOnly: true,
};

/** The private authorities, where wrapper and proxy look for them by themselves. */
export const certificates = (configMap: string | undefined): Shared | undefined =>
  configMap === undefined ? undefined : { volume: volume(configMap), mount };
