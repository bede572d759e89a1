import type { SecretMappingSpec, SecretMappingStatus } from '../custom-resources/secret-mapping.ts';
import type { ServiceConfigSpec, ServiceConfigStatus } from '../custom-resources/service-config.ts';
import type { Pod } from '../kubernetes/pod.ts';

export interface KnownNamespace {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly terminating: boolean;
}

/**
 * With the members that policies, scores and statuses read: mounts, volumes and references to Secrets among them.
 * Environment values are left out, but for those of `scoredVariables` in core/score/variables.ts and, of the wrapper's
 * and the proxy's containers, of `addressVariables` in core/egress/variables.ts.
 */
export interface KnownPod {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly pod: Pod;
}

export interface KnownServiceConfig {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /** The older one wins where two select a pod. */
  readonly created: string;
  readonly spec: ServiceConfigSpec;
  readonly status: ServiceConfigStatus;
}

export interface KnownSecretMapping {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly spec: SecretMappingSpec;
  readonly status: SecretMappingStatus;
}

export interface KnownWorkload {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly owner: { readonly kind: string; readonly name: string } | undefined;
  /** Of its pods; absent for ReplicaSets and Jobs that belong to another one. */
  readonly template: Pod | undefined;
}
