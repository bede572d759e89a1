import type { Container, Pod, Volume, VolumeMount } from '../../kubernetes/pod.ts';
import type { InjectionDefaults, PodSecurityLevel } from '../contract.ts';
import { copierName, volumeNames, wrapperFolder, wrapperProgram } from './names.ts';
import { type Needs, ownResources } from './own-resources.ts';
import { ownSecurityContext } from './own-security.ts';

/** How the wrapper's folder comes into a pod. */
export interface FolderDelivery {
  readonly volume: Volume;
  readonly mount: VolumeMount;
  /** The init container that fills the volume. */
  readonly copier: Container | undefined;
}

const copyTarget = '/svc-target';
/** A link that the init container of the node agent keeps; a runtime follows it when it starts a container. */
const hostFolder = '/var/lib/svc/wrapper/current';

/** The folder has 90 MB. */
const sizeLimit = '256Mi';
const copierNeeds: Needs = {
  requests: { cpu: '10m', memory: '32Mi' },
  limits: { cpu: '500m', memory: '128Mi' },
};

/** An image's volume shows its whole root, in which the folder is at the same path. */
export function folderDelivery(pod: Pod, defaults: InjectionDefaults): FolderDelivery {
  const { wrapperImage: image, wrapperDelivery } = defaults;
  const name = volumeNames.wrapper;
  const mount = { name, mountPath: wrapperFolder, readOnly: true };
  switch (wrapperDelivery) {
    case 'copy':
      return { volume: { name, emptyDir: { sizeLimit } }, mount, copier: copier(pod, image) };
    case 'image':
      return {
        volume: { name, image: { reference: image, pullPolicy: 'IfNotPresent' } },
        mount: { ...mount, subPath: wrapperFolder.slice(1) },
        copier: undefined,
      };
    case 'host':
      return {
        volume: { name, hostPath: { path: hostFolder, type: 'Directory' } },
        mount,
        copier: undefined,
      };
  }
}

function copier(pod: Pod, image: string): Container {
  return {
    name: copierName,
    image,
    command: [wrapperProgram, '--copy-to', copyTarget],
    resources: ownResources(pod, copierNeeds),
    securityContext: ownSecurityContext(pod),
    volumeMounts: [{ name: volumeNames.wrapper, mountPath: copyTarget }],
  };
}

/** Why the folder cannot come into a pod of this namespace as the operator is told. */
export function deliveryMistakes(
  { wrapperDelivery }: InjectionDefaults,
  level: PodSecurityLevel,
): readonly string[] {
  if (wrapperDelivery !== 'host' || level === 'privileged') return [];
  return [
    `operator.wrapperDelivery: host needs a hostPath volume, which the namespace's Pod Security level ${level} forbids; use copy or image`,
  ];
}
