import type { Container, Volume, VolumeMount } from '../../kubernetes/pod.ts';
import type { Context } from './context.ts';
import { covers } from './covers.ts';
import { type ImageMirrors, isConfiguredImage } from './image-name.ts';
import { resolvedPath } from './mount-path.ts';
import type { Remarks } from './remarks.ts';

/** The volumes with one more; one of the operator's own that is there already is set anew. */
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
    remarks.mistakes.push(`volume ${wanted.name}: the name is kept for the operator's own volume`);
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

/** The container with one more mount, or as it is where that is among its own. */
export function addMount(container: Container, wanted: VolumeMount, { mistakes }: Remarks): Container {
  const { volumeMounts = [] } = container;
  const there = volumeMounts.filter(({ mountPath }) => resolvedPath(mountPath) === wanted.mountPath);
  if (there.length === 0) return { ...container, volumeMounts: [...volumeMounts, wanted] };
  for (const mount of there.filter((one) => !isSameMount(one, wanted))) {
    mistakes.push(
      `container ${container.name}: ${wanted.mountPath} is kept for the volume ${wanted.name}, and ${mount.name} is mounted there otherwise`,
    );
  }
  return container;
}

/** Of all that a mount can say, a part of the volume alone would show other files. */
export function isSameMount(there: VolumeMount, wanted: VolumeMount): boolean {
  const { subPath, subPathExpr } = there;
  return (
    covers({ ...there, mountPath: resolvedPath(there.mountPath) }, wanted) &&
    (subPath ?? '') === (wanted.subPath ?? '') &&
    (subPathExpr ?? '') === ''
  );
}
