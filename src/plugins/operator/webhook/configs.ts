import { apiVersion } from '../../../core/custom-resources/condition.ts';
import type { SecretMappingSpec } from '../../../core/custom-resources/secret-mapping.ts';
import type { ServiceConfigSpec } from '../../../core/custom-resources/service-config.ts';
import { givenAnnotations } from '../../../core/injection/resolve/given-annotations.ts';
import { selects } from '../../../core/kubernetes/label-selector.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import type { ByNamespace } from '../cluster/by-namespace.ts';
import type { KnownSecretMapping, KnownServiceConfig } from '../cluster/contract.ts';
import type { AdmissionRequest } from './review.ts';

export interface NamedServiceConfig {
  readonly name: string;
  readonly created: string;
  readonly spec: ServiceConfigSpec;
}

export interface Configs {
  readonly serviceConfigs: readonly NamedServiceConfig[];
  readonly secretMappings: ReadonlyMap<string, SecretMappingSpec>;
}

interface Listed<Spec> {
  readonly metadata: { readonly name: string; readonly creationTimestamp: string };
  readonly spec: Spec;
}

/** What is known of each namespace. */
export interface ConfigIndexes {
  readonly serviceConfigs: ByNamespace<KnownServiceConfig>;
  readonly secretMappings: ByNamespace<KnownSecretMapping>;
}

interface Deps {
  readonly client: KubeClient;
  readonly indexes: ConfigIndexes;
}

/**
 * What the pod's namespace says. The API server asks about pods without annotations only where their namespace is one
 * of protected pods. Where nothing that is known applies to one, the ServiceConfig has not been told to us yet, or our
 * watch hangs; what we know of the namespace's label may be as old, so that it does not count.
 */
export async function serviceConfigsIn(
  { pod, namespace }: AdmissionRequest,
  { client, indexes }: Deps,
  signal: AbortSignal,
): Promise<Configs> {
  const known = [...indexes.serviceConfigs.in(namespace)];
  const applies = known.some(({ spec }) => selects(spec.selector, pod.metadata.labels));
  const ask = !applies && Object.keys(givenAnnotations(pod)).length === 0;
  return {
    serviceConfigs: ask ? await listedConfigs(client, namespace, signal) : known,
    secretMappings: new Map(
      Array.from(indexes.secretMappings.in(namespace), ({ name, spec }) => [name, spec] as const),
    ),
  };
}

/** The same as the API server has it now; what was made just before a pod may not have been told to us yet. */
export async function configsOfNow(
  { namespace }: AdmissionRequest,
  { client }: Deps,
  signal: AbortSignal,
): Promise<Configs> {
  const [serviceConfigs, mappings] = await Promise.all([
    listedConfigs(client, namespace, signal),
    listed<SecretMappingSpec>(client, namespace, 'secretmappings', signal),
  ]);
  return {
    serviceConfigs,
    secretMappings: new Map(mappings.map(({ metadata: { name }, spec }) => [name, spec])),
  };
}

async function listed<Spec>(
  client: KubeClient,
  namespace: string,
  plural: string,
  signal: AbortSignal,
): Promise<Listed<Spec>[]> {
  const path = `/apis/${apiVersion}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
  return (await client.request<{ items: Listed<Spec>[] }>({ path, signal })).items;
}

async function listedConfigs(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<NamedServiceConfig[]> {
  const items = await listed<ServiceConfigSpec>(client, namespace, 'serviceconfigs', signal);
  return items.map(({ metadata: { name, creationTimestamp }, spec }) => ({
    ...{ name, created: creationTimestamp, spec },
  }));
}
