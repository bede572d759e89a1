import type { ServiceConfigSpec } from '../../custom-resources/service-config.ts';
import { selects } from '../../kubernetes/label-selector.ts';
import type { Pod } from '../../kubernetes/pod.ts';

export interface CreatedConfig {
  readonly name: string;
  /** RFC 3339, in UTC. */
  readonly created: string;
  readonly spec: ServiceConfigSpec;
}

/** Of those that select a pod, the oldest; of two as old, the first by name. Undefined: none does. */
export function selectServiceConfig<T extends CreatedConfig>(pod: Pod, configs: readonly T[]): T | undefined {
  return configs
    .filter(({ spec }) => selects(spec.selector, pod.metadata.labels))
    .reduce<T | undefined>(
      (best, one) => (best === undefined || precedes(one, best) ? one : best),
      undefined,
    );
}

function precedes(a: CreatedConfig, b: CreatedConfig): boolean {
  return a.created === b.created ? a.name < b.name : a.created < b.created;
}
