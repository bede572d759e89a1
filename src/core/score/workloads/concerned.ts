import type { KnownServiceConfig } from '../../cluster/known.ts';
import { selectServiceConfig } from '../../injection/resolve/select-service-config.ts';
import { isLabelled } from '../../kubernetes/labels.ts';
import type { Pod } from '../../kubernetes/pod.ts';
import { asksForWrapper } from '../containers.ts';
import type { Group } from './groups.ts';

export interface Wishes {
  /** The namespace is labelled: all of its workloads are looked at. */
  readonly labelled: boolean;
  readonly serviceConfigs: readonly KnownServiceConfig[];
}

/** Whether a workload is to be scored: it is protected, ought to be, or lives among those that are. */
export function isConcerned({ pods, template }: Group, wishes: Wishes): boolean {
  if (wishes.labelled) return true;
  const all = [...pods.map(({ pod }) => pod), ...(template === undefined ? [] : [template])];
  return all.some((pod) => isLabelled(pod.metadata.labels) || asksForWrapper(pod) || isSelected(pod, wishes));
}

/** As the webhook will see a pod of it: one that a ServiceConfig selects asks for the wrapper, unless it opts out. */
export function asPlanned(template: Pod, wishes: Wishes): Pod {
  const { metadata } = template;
  if (metadata.annotations?.['svc/inject'] !== undefined || !isSelected(template, wishes)) return template;
  return {
    ...template,
    metadata: { ...metadata, annotations: { ...metadata.annotations, 'svc/inject': 'true' } },
  };
}

const isSelected = (pod: Pod, { serviceConfigs }: Wishes): boolean =>
  selectServiceConfig(pod, serviceConfigs) !== undefined;
