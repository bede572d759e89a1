import type { SecretMappingSpec } from '../../custom-resources/secret-mapping.ts';
import { isLabelled } from '../../kubernetes/labels.ts';
import type { Pod } from '../../kubernetes/pod.ts';
import { applyRules, outcome } from '../../settings/rules.ts';
import type { InjectionDefaults, Resolution } from '../contract.ts';
import { annotations } from './annotations.ts';
import { boundMistakes } from './bounds.ts';
import { combineSecrets } from './combine-secrets.ts';
import { egressMistakes } from './egress-mistakes.ts';
import { annotationMistakes, givenAnnotations, optsOut } from './given-annotations.ts';
import { planOf } from './plan.ts';
import { refusalsOf } from './refusals.ts';
import { type Asked, rules } from './rules.ts';
import { listedSecrets, mappedSecrets } from './secret-sources.ts';
import { type CreatedConfig, selectServiceConfig } from './select-service-config.ts';
import { gatherWishes } from './wishes.ts';

/** What a pod's request is judged by; the configs and mappings are those of its namespace. */
export interface ResolveSurroundings {
  readonly namespace: string;
  readonly namespaceLabels: Readonly<Record<string, string>>;
  readonly serviceConfigs: readonly CreatedConfig[];
  readonly secretMappings: ReadonlyMap<string, SecretMappingSpec>;
  readonly defaults: InjectionDefaults;
}

/** What a pod asks for by its annotations or by the ServiceConfig that selects it; never throws for what is in them. */
export function resolveInjection(pod: Pod, surroundings: ResolveSurroundings): Resolution {
  const given = givenAnnotations(pod);
  if (optsOut(given)) return { kind: 'skip', reason: 'it opts out with svc/inject: "false"' };
  const config = selectServiceConfig(pod, surroundings.serviceConfigs);
  if (config === undefined && Object.keys(given).length === 0) return unasked(surroundings);
  const unbounded = boundMistakes(pod, given);
  if (unbounded.length > 0) return { kind: 'deny', mistakes: unbounded };
  const { wishes, mistakes } = gatherWishes(given, config);
  const egress = egressMistakes(config, surroundings.serviceConfigs);
  const found = [...refusalsOf(pod), ...annotationMistakes(given), ...mistakes, ...egress];
  return complete({ wishes, defaults: surroundings.defaults, config: config?.name }, surroundings, found);
}

function unasked({ namespace, namespaceLabels }: ResolveSurroundings): Resolution {
  const reason = 'it has no svc/ annotation and no ServiceConfig selects it';
  return isLabelled(namespaceLabels)
    ? { kind: 'skip', reason: `${reason}, although namespace ${namespace} is a protected one` }
    : { kind: 'skip', reason };
}

function complete(asked: Asked, surroundings: ResolveSurroundings, found: readonly string[]): Resolution {
  const { namespace, secretMappings } = surroundings;
  const listed = outcome(() => listedSecrets(asked.wishes));
  const mapped = outcome(() => mappedSecrets(asked.wishes, namespace, secretMappings));
  const combined = combineSecrets([...(listed?.sources ?? []), ...(mapped?.sources ?? [])]);
  const nothingNamed = combined.secrets.every(({ mappings }) => mappings.length === 0);
  const mapOnly = outcome(() => asked.wishes.envMapOnly);
  const mistakes = [
    ...found,
    ...(mapOnly?.value === true && nothingNamed
      ? [`${mapOnly.place}: would deliver nothing, because no field is named; set ${annotations.envMap.name}`]
      : []),
    ...applyRules(asked, rules),
    ...[listed, mapped, combined].flatMap((part) => part?.mistakes ?? []),
  ];
  return mistakes.length > 0
    ? { kind: 'deny', mistakes }
    : { kind: 'inject', plan: planOf(asked, combined.secrets) };
}
