import type { SecretMappingSpec } from '../../../../core/custom-resources/secret-mapping.ts';
import type { InjectionDefaults } from '../../../../core/injection/contract.ts';
import { resolveInjection } from '../../../../core/injection/resolve/resolve-injection.ts';
import type { Pod } from '../../../../core/kubernetes/pod.ts';
import type { KnownServiceConfig } from '../../cluster/contract.ts';

export interface Judgement {
  /** Of the ServiceConfig itself: a pod that it selects is refused. */
  readonly mistakes: readonly string[];
  /** What it leaves to the annotations of its pods. */
  readonly left: readonly string[];
}

/** Judged as the webhook does it, by a pod that asks for nothing else. */
export function judgeServiceConfig(
  config: KnownServiceConfig,
  secretMappings: ReadonlyMap<string, SecretMappingSpec>,
  defaults: InjectionDefaults,
  all: readonly KnownServiceConfig[] = [],
): Judgement {
  const { name, namespace, created, spec } = config;
  const resolution = resolveInjection(plainPod(config), {
    ...{ namespace, namespaceLabels: {}, secretMappings, defaults },
    serviceConfigs: [{ name, created, spec: { ...spec, selector: {} } }, ...othersThan(config, all)],
  });
  const found = resolution.kind === 'deny' ? resolution.mistakes : [];
  return {
    mistakes: found.filter((mistake) => !isLeft(mistake)),
    left: found.filter(isLeft),
  };
}

/** Those of the namespace: what counts for all of it together, they add to; they select no pod here. */
function othersThan({ name }: KnownServiceConfig, all: readonly KnownServiceConfig[]): KnownServiceConfig[] {
  const selector = { matchExpressions: [{ key: 'app', operator: 'In' as const, values: [] }] };
  return all
    .filter((other) => other.name !== name)
    .map((other) => ({ ...other, spec: { ...other.spec, selector } }));
}

/** With the containers that the ServiceConfig names. */
function plainPod({ namespace, spec }: KnownServiceConfig): Pod {
  const { containers = ['application'] } = spec;
  return { metadata: { name: 'pod', namespace }, spec: { containers: containers.map((name) => ({ name })) } };
}

/** A mistake that is led by an annotation says what the pod would have to add. */
function isLeft(mistake: string): boolean {
  return /^svc\/[a-z-]+: required,/.test(mistake);
}
