import type { Container, Pod } from '../../kubernetes/pod.ts';
import type { InjectionPlan } from '../contract.ts';
import { isMeshSidecar } from './mesh-sidecars.ts';
import { isInjected } from './names.ts';

/** Every container that starts with the pod, those of its initialisation first. */
export const containersOf = ({ spec }: Pod): readonly Container[] => [
  ...(spec.initContainers ?? []),
  ...spec.containers,
];

/** Those of the user. */
export const ownContainers = (pod: Pod): readonly Container[] =>
  containersOf(pod).filter((container) => !isInjected(container));

/** The containers that are wrapped: the named ones, or all ordinary ones but sidecars of known meshes. */
export function chosenContainers(pod: Pod, { containers }: InjectionPlan): readonly Container[] {
  if (containers !== undefined) return ownContainers(pod).filter(({ name }) => containers.includes(name));
  return pod.spec.containers.filter((container) => !isInjected(container) && !isMeshSidecar(container));
}

export function choiceMistakes(pod: Pod, plan: InjectionPlan): readonly string[] {
  const known = ownContainers(pod).map(({ name }) => name);
  const unknown = plan.containers?.filter((name) => !known.includes(name)) ?? [];
  if (unknown.length > 0) return unknown.map((name) => notThere(name, known));
  if (chosenContainers(pod, plan).length > 0) return [];
  return ['svc/containers: should name a container, because all of this pod are sidecars of a mesh'];
}

function notThere(name: string, known: readonly string[]): string {
  return `svc/containers: the pod has no container ${JSON.stringify(name)}, it has ${known.join(', ')}`;
}
