import type {
  InjectionDefaults,
  InjectionPlan,
  Resolution,
} from '../../../../src/cluster/injection/contract.ts';
import {
  type ResolveEnvironment,
  resolveInjection,
} from '../../../../src/cluster/injection/resolve/resolve-injection.ts';
import type { Pod, PodMetadata, PodSpec } from '../../../../src/cluster/kube/pod.ts';
import type {
  SecretMappingSpec,
  SecretVariables,
  ServiceConfigSpec,
} from '../../../../src/cluster/resources/resources.ts';

export const defaults: InjectionDefaults = {
  vaultAddress: undefined,
  wrapperImage: 'svc/wrapper:1',
  proxyImage: 'svc/proxy:1',
  wrapperDelivery: 'copy',
  seccompDefault: true,
  caConfigMap: undefined,
  agentSocket: undefined,
  development: false,
};

/** The least that a pod has to say. */
export const enough = {
  'svc/vault-address': 'https://vault.example:8200',
  'svc/vault-role': 'shop',
  'svc/secret-paths': 'secret/shop',
};

export function podWith(
  annotations: PodMetadata['annotations'],
  labels: PodMetadata['labels'] = {},
  spec: Partial<PodSpec> = {},
): Pod {
  return {
    metadata: { name: 'shop', labels, ...(annotations ? { annotations } : {}) },
    spec: { containers: [{ name: 'shop', image: 'shop:1' }], ...spec },
  };
}

export function configNamed(
  name: string,
  spec: Partial<ServiceConfigSpec>,
  created = '2026-01-01T00:00:00Z',
) {
  return { name, created, spec: { selector: {}, ...spec } };
}

export const mappings = (all: Readonly<Record<string, readonly SecretVariables[]>>) =>
  new Map<string, SecretMappingSpec>(Object.entries(all).map(([name, secrets]) => [name, { secrets }]));

export type Given = Partial<Omit<ResolveEnvironment, 'defaults'>> & {
  readonly defaults?: Partial<InjectionDefaults>;
};

export function resolve(pod: Pod, given: Given = {}): Resolution {
  return resolveInjection(pod, {
    ...{ namespace: 'team', namespaceLabels: {}, serviceConfigs: [], secretMappings: new Map() },
    ...given,
    defaults: { ...defaults, ...given.defaults },
  });
}

export function planOf(pod: Pod, given?: Given): InjectionPlan {
  const resolution = resolve(pod, given);
  if (resolution.kind === 'inject') return resolution.plan;
  throw new Error(`not injected: ${JSON.stringify(resolution)}`);
}

export function errorsOf(pod: Pod, given?: Given): readonly string[] {
  const resolution = resolve(pod, given);
  if (resolution.kind === 'deny') return resolution.errors;
  throw new Error(`not denied: ${JSON.stringify(resolution)}`);
}
