import { type ImageMirrors, isConfiguredImage } from '../../image/reference.ts';
import type { Container, Pod, Volume, VolumeMount } from '../../kubernetes/pod.ts';
import { tokenFolder, volumeNames } from './containers.ts';
import type { Context, Diagnostics, Shared } from './context.ts';

/** The volumes with one more. A volume of the operator that is already there is replaced. */
export function addVolume(
  volumes: readonly Volume[],
  wanted: Volume,
  { defaults, remarks }: Pick<Context, 'defaults' | 'remarks'>,
): readonly Volume[] {
  const index = volumes.findIndex(({ name }) => name === wanted.name);
  const there = volumes[index];
  if (there === undefined) return [...volumes, wanted];
  if (covers(there, wanted) && audienceOf(there) === audienceOf(wanted)) return volumes;
  if (!covers(there, fixedPart(wanted)))
    remarks.errors.push(`volume ${wanted.name}: the name is kept for the operator's own volume`);
  return volumes.with(index, withImageOf(there, wanted, defaults.imageMirrors));
}

/** One that is missing is that of the API server. */
function audienceOf({ projected }: Volume): string | undefined {
  return projected?.sources?.find((source) => source.serviceAccountToken)?.serviceAccountToken?.audience;
}

/** Without what another version of the operator, or another user of the pod, has made otherwise. */
function fixedPart({ image, projected, hostPath, ...rest }: Volume): object {
  const { defaultMode: _, ...kept } = projected ?? {};
  const sources = projected?.sources?.map(({ serviceAccountToken, ...source }) => {
    const { audience, ...token } = serviceAccountToken ?? {};
    return { ...source, ...(serviceAccountToken && { serviceAccountToken: token }) };
  });
  return {
    ...rest,
    ...(image && { image: {} }),
    ...(projected && { projected: { ...kept, ...(sources && { sources }) } }),
    ...(hostPath && { hostPath: { type: hostPath.type } }),
  };
}

/** The same image from a mirror stays. */
function withImageOf({ image: there }: Volume, volume: Volume, mirrors: ImageMirrors | undefined): Volume {
  const { image } = volume;
  if (image === undefined || !isConfiguredImage(there?.reference, image.reference, mirrors)) return volume;
  return { ...volume, image: { ...image, ...there } };
}

/** The container with one more mount, or unchanged if it has that mount already. */
export function addMount(container: Container, wanted: VolumeMount, { errors }: Diagnostics): Container {
  const { volumeMounts = [] } = container;
  const there = volumeMounts.filter(({ mountPath }) => resolvedPath(mountPath) === wanted.mountPath);
  if (there.length === 0) return { ...container, volumeMounts: [...volumeMounts, wanted] };
  for (const mount of there.filter((one) => !isSameMount(one, wanted))) {
    errors.push(
      `container ${container.name}: ${wanted.mountPath} is kept for the volume ${wanted.name}, and ${mount.name} is mounted there otherwise`,
    );
  }
  return container;
}

/** Of all fields of a mount, only a sub-path changes which files are shown. */
export function isSameMount(there: VolumeMount, wanted: VolumeMount): boolean {
  const { subPath, subPathExpr } = there;
  return (
    covers({ ...there, mountPath: resolvedPath(there.mountPath) }, wanted) &&
    (subPath ?? '') === (wanted.subPath ?? '') &&
    (subPathExpr ?? '') === ''
  );
}

/** Whether what is there has all wanted members with the same values, and arrays of the same length. */
export function covers(there: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(there) || there.length !== wanted.length) return false;
    return wanted.every((item, at) => covers(there[at], item));
  }
  if (typeof wanted !== 'object' || wanted === null) return there === wanted;
  if (typeof there !== 'object' || there === null) return false;
  return Object.entries(wanted).every(([name, value]) => covers(Reflect.get(there, name), value));
}

/**
 * The path of a mount as kubelet and runtime resolve it: `svc`, `//svc/` and `/x/../svc` are all `/svc`. Takes linear time,
 * because the author of a pod chooses its paths.
 */
export function resolvedPath(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}

const expirationSeconds = 3_600;
const automounted = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Whether it is the token that the API server mounts into containers by default. */
export const isAutomounted = ({ mountPath }: VolumeMount): boolean => resolvedPath(mountPath) === automounted;

/**
 * Whether a container has no token of its service account by itself: the API server mounts one before webhooks are
 * asked, unless pod or account forbid it. Once a container has ours, it keeps it.
 */
export function needsToken({ volumeMounts = [] }: Container, audience: string | undefined): boolean {
  // the token mounted by default is for the API server
  if (audience !== undefined) return true;
  if (volumeMounts.some(({ name }) => name === volumeNames.token)) return true;
  return !volumeMounts.some(isAutomounted);
}

/**
 * A token for the login at the secrets server. The kubelet gives it to the pod's group or to the one user of
 * all containers where there is such; else it has to be readable for whatever user a container has.
 * @param audience undefined: that of the API server, so the token also grants what the service account may do there
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
