import type { Container, Pod, VolumeMount } from '../../kubernetes/pod.ts';
import { resolvedPath } from './mount-path.ts';
import { tokenFolder, volumeNames } from './names.ts';
import type { Shared } from './shared.ts';

const expirationSeconds = 3_600;
const automounted = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Whether it is the token that the API server gives to containers by itself. */
export const isAutomounted = ({ mountPath }: VolumeMount): boolean => resolvedPath(mountPath) === automounted;

/**
 * Whether a container has no token of its service account by itself: the API server mounts one before webhooks are
 * asked, unless pod or account forbid it. Once a container has ours, it keeps it.
 */
export function needsToken({ volumeMounts = [] }: Container, audience: string | undefined): boolean {
  // the one that is mounted by itself is for the API server
  if (audience !== undefined) return true;
  if (volumeMounts.some(({ name }) => name === volumeNames.token)) return true;
  return !volumeMounts.some(isAutomounted);
}

/**
 * A token with which one can log in at the secrets server. The kubelet gives it to the pod's group or to the one user of
 * all containers where there is such; else it has to be readable for whatever user a container has.
 * @param audience undefined: the API server's, so that it opens what the service account may do there, too
 */
export function ownToken({ spec }: Pod, audience: string | undefined): Shared {
  const defaultMode = spec.securityContext?.fsGroup === undefined ? 0o444 : 0o440;
  const token = { path: 'token', expirationSeconds, ...(audience !== undefined && { audience }) };
  const sources = [{ serviceAccountToken: token }];
  return {
    volume: { name: volumeNames.token, projected: { sources, defaultMode } },
    mount: { name: volumeNames.token, mountPath: tokenFolder, readOnly: true },
  };
}
