import type { Container, Pod, Resources } from '../../kubernetes/pod.ts';
import { ownContainers } from './chosen.ts';

type Amounts = Readonly<Record<'cpu' | 'memory', string>>;

export interface Needs {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

/** Requests and limits of a container that is added; a pod of the class Guaranteed remains one. */
export function ownResources(pod: Pod, { requests, limits }: Needs): Resources {
  const guaranteed = ownContainers(pod).every(isGuaranteed);
  return { requests: guaranteed ? limits : requests, limits };
}

function isGuaranteed({ resources: { requests = {}, limits = {} } = {} }: Container): boolean {
  return ['cpu', 'memory'].every((name) => {
    const limit = limits[name];
    return limit !== undefined && (requests[name] ?? limit) === limit;
  });
}
