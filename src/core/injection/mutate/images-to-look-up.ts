import type { Pod } from '../../kubernetes/pod.ts';
import type { InjectionPlan } from '../contract.ts';
import { chosenContainers } from './chosen.ts';
import { leavesCommandToImage } from './original-command.ts';

/** Images of chosen containers whose command neither the pod nor `svc/command` says, each once. */
export function imagesToLookUp(pod: Pod, plan: InjectionPlan): readonly string[] {
  if (plan.command !== undefined) return [];
  const images = chosenContainers(pod, plan)
    .filter(leavesCommandToImage)
    .map(({ image }) => image)
    .filter((image) => image !== undefined && image !== '');
  return [...new Set(images)] as string[];
}
