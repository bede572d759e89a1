import type { ObservedPolicy } from '../../core/egress/observed-policy.ts';
import type { CreatedConfig } from '../../core/injection/resolve/select-service-config.ts';
import type { Pod } from '../../core/kubernetes/pod.ts';

/** A network policy, and whether the operator keeps it. */
export type SeenPolicy = ObservedPolicy & { readonly ours: boolean };

/** What a cluster has in a namespace that matters for its egress policies; of pods, the protected ones. */
export interface NamespaceContent {
  readonly pods: readonly Pod[];
  readonly configs: readonly CreatedConfig[];
  readonly policies: readonly SeenPolicy[];
}

export const emptyContent: NamespaceContent = { pods: [], configs: [], policies: [] };
