import type { Pod } from '../../kubernetes/pod.ts';
import type { InjectionPlan, PodSecurityLevel } from '../contract.ts';
import { chosenContainers } from './chosen.ts';
import { runsAsRoot } from './user.ts';

/** Images of chosen containers that may run as root and lock their memory, where the pod does not say who they run as. */
export function imagesOfUnknownUser(
  pod: Pod,
  plan: InjectionPlan,
  podSecurity: PodSecurityLevel,
): readonly string[] {
  if (podSecurity !== 'privileged') return [];
  const images = chosenContainers(pod, plan)
    .filter((container) => runsAsRoot(pod, container, undefined) === undefined)
    .flatMap(({ image = '' }) => (image === '' ? [] : [image]));
  return [...new Set(images)];
}
