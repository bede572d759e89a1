import type { KnownNamespace, KnownSecretMapping, KnownServiceConfig } from '../../core/cluster/known.ts';
import type { SecretMappingSpec, SecretMappingStatus } from '../../core/custom-resources/secret-mapping.ts';
import type { ServiceConfigSpec, ServiceConfigStatus } from '../../core/custom-resources/service-config.ts';
import type { OwnerReference } from '../../core/kubernetes/pod.ts';
import { type KubeObject, keyOf, type ObjectMeta } from '../kube/objects.ts';

export interface FullMeta extends ObjectMeta {
  readonly creationTimestamp?: string;
  readonly generation?: number;
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface CustomObject<Spec, Status> extends KubeObject {
  readonly metadata: FullMeta;
  readonly spec: Spec;
  readonly status?: Status;
}

export function projectNamespace({ metadata }: KubeObject): KnownNamespace {
  const { name, labels = {}, deletionTimestamp } = metadata;
  return { name, labels, terminating: deletionTimestamp !== undefined };
}

export function projectServiceConfig(
  object: CustomObject<ServiceConfigSpec, ServiceConfigStatus>,
): KnownServiceConfig {
  return { ...projectCustom(object), created: object.metadata.creationTimestamp ?? '' };
}

export function projectSecretMapping(
  object: CustomObject<SecretMappingSpec, SecretMappingStatus>,
): KnownSecretMapping {
  return projectCustom(object);
}

function projectCustom<Spec, Status extends object>(object: CustomObject<Spec, Status>) {
  const { name, namespace = '', uid, generation = 0 } = object.metadata;
  const status = object.status ?? ({} as Status);
  return { key: keyOf(object), namespace, name, uid, generation, spec: object.spec, status };
}
