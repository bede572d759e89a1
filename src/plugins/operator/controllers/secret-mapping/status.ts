import { isOver } from '../../../../core/cluster/protected.ts';
import type { SecretMappingStatus } from '../../../../core/custom-resources/secret-mapping.ts';
import { combineSecrets } from '../../../../core/injection/resolve/combine-secrets.ts';
import { readSecretVariables } from '../../../../core/injection/resolve/secret-variables.ts';
import type { KnownPod, KnownSecretMapping, KnownServiceConfig } from '../../cluster/contract.ts';
import { joinedMistakes, type NewCondition, withTransition } from '../conditions.ts';
import { mappingNames } from '../pod-changes.ts';

const mostNamed = 50;

/** Of its namespace. */
export interface Users {
  readonly pods: Iterable<KnownPod>;
  readonly serviceConfigs: Iterable<KnownServiceConfig>;
}

/** `ServiceConfig/<name>` and `Pod/<name>`, sorted. */
export function usersOf({ name }: KnownSecretMapping, { pods, serviceConfigs }: Users): readonly string[] {
  const users: string[] = [];
  for (const config of serviceConfigs)
    if (config.spec.secretMappings?.includes(name)) users.push(`ServiceConfig/${config.name}`);
  for (const pod of pods)
    if (!isOver(pod.pod) && mappingNames(pod).includes(name)) users.push(`Pod/${pod.name}`);
  return users.sort();
}

/** Every mistake of it, as the webhook would say it of a pod that names it. */
export function mappingMistakes({ spec }: KnownSecretMapping): readonly string[] {
  const place = 'spec.secrets';
  const reading = readSecretVariables(place, spec.secrets);
  if (!('value' in reading)) return reading.mistakes;
  return combineSecrets(reading.value.map((secret) => ({ ...secret, place }))).mistakes;
}

/** @param before what its status is */
export function secretMappingStatus(
  mapping: KnownSecretMapping,
  users: readonly string[],
  mistakes: readonly string[],
  before: SecretMappingStatus,
): SecretMappingStatus {
  const { generation: observedGeneration } = mapping;
  const conditions = [
    withTransition({ ...validity(mistakes), observedGeneration }, before.conditions),
  ] as const;
  const [valid] = conditions;
  const isKnown = before.observedGeneration === observedGeneration;
  return {
    ...{ observedGeneration, users: users.length, conditions },
    usedBy: users.slice(0, mostNamed),
    // said again only of another spec or with another result: otherwise each look would be a write
    lastValidated:
      isKnown && before.conditions?.some(({ message }) => message === valid.message) && before.lastValidated
        ? before.lastValidated
        : now(),
  };
}

function validity(mistakes: readonly string[]): NewCondition {
  return mistakes.length === 0
    ? { type: 'Valid', status: 'True', reason: 'SpecValid', message: 'Its spec has no mistakes.' }
    : { type: 'Valid', status: 'False', reason: 'SpecInvalid', message: joinedMistakes(mistakes) };
}

function now(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, 'Z');
}
