import type { ImageCommand, InjectionPlan, PodSecurityLevel } from '../../../core/injection/contract.ts';
import { imagesOfUnknownUser } from '../../../core/injection/mutate/images-of-unknown-user.ts';
import { imagesToLookUp } from '../../../core/injection/mutate/images-to-look-up.ts';
import type { ImageCommands, LookupOptions } from '../images/contract.ts';
import type { AdmissionRequest } from './review.ts';

/**
 * What the pod's images run, and as which user. A registry that does not answer in time refuses the pod, also where only
 * the user is wanted: what protects a pod must not depend on how fast a registry is. One that answers without telling the
 * user costs the pod the lock on its memory.
 * @throws ImageLookupError
 */
export function lookUpImages(
  { pod, namespace }: AdmissionRequest,
  plan: InjectionPlan,
  podSecurity: PodSecurityLevel,
  images: ImageCommands,
  limits: LookupOptions,
): Promise<ReadonlyMap<string, ImageCommand>> {
  const needed = imagesToLookUp(pod, plan);
  const wanted = imagesOfUnknownUser(pod, plan, podSecurity).filter((image) => !needed.includes(image));
  return images.commandsOf(pod, namespace, [...needed, ...wanted], {
    ...limits,
    dispensable: new Set(wanted),
  });
}
