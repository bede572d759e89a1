import { isOver } from '../../../cluster/injection/protected-pods.ts';
import { readSecretVariables } from '../../../cluster/injection/resolve/requested-settings.ts';
import { combineSecrets } from '../../../cluster/injection/resolve/secrets.ts';
import { tooLargeError } from '../../../cluster/kube/known-objects.ts';
import type { SecretMappingStatus } from '../../../cluster/resources/resources.ts';
import {
  type KnownPod,
  type KnownSecretMapping,
  type KnownServiceConfig,
  mappingNames,
  specDiffers,
} from '../cluster-view.ts';
import type { Controller, ControllerDeps, Indexes } from './run-controller.ts';
import { startStatusController, validity, withTransition } from './status.ts';

/** Maintains the status of each SecretMapping: its errors and its users. */
export function startSecretMappingController(deps: ControllerDeps, indexes: Indexes): Controller {
  const { secretMappings, serviceConfigs, pods } = deps.cluster;
  const controller = startStatusController<SecretMappingStatus, KnownSecretMapping>(deps, {
    ...{ name: 'secret-mapping', kind: 'SecretMapping', plural: 'secretmappings', objects: secretMappings },
    judge(mapping, before) {
      const { namespace } = mapping;
      const within = {
        pods: indexes.pods.in(namespace),
        serviceConfigs: indexes.serviceConfigs.in(namespace),
      };
      const errors = mappingErrors(mapping);
      return { errors, status: secretMappingStatus(mapping, usersOf(mapping, within), errors, before) };
    },
  });
  const enqueueNamed = (namespace: string, names: readonly string[] = []) => {
    for (const name of names) controller.enqueue(`${namespace}/${name}`);
  };
  secretMappings.onChange(({ key }, _before, gone) => !gone && controller.enqueue(key));
  serviceConfigs.onChange((config, before, gone) => {
    if (!specDiffers(config, before, gone)) return;
    enqueueNamed(config.namespace, config.spec.secretMappings);
    enqueueNamed(config.namespace, before?.spec.secretMappings);
  });
  pods.onChange((pod, before, gone) => {
    if (usesDiffer(pod, before, gone))
      enqueueNamed(pod.namespace, [...mappingNames(pod), ...(before ? mappingNames(before) : [])]);
  });
  return controller;
}

/** Equal annotations are usually the same object (see the cluster view), so comparing by identity is enough. */
function usesDiffer({ pod }: KnownPod, before: KnownPod | undefined, gone: boolean): boolean {
  if (gone || before === undefined) return true;
  return isOver(pod) !== isOver(before.pod) || pod.metadata.annotations !== before.pod.metadata.annotations;
}

const mostNamed = 50;

/** In the mapping's namespace. */
export interface Users {
  readonly pods: Iterable<KnownPod>;
  readonly serviceConfigs: Iterable<KnownServiceConfig>;
}

/** `ServiceConfig/<name>` and `Pod/<name>`, sorted. */
function usersOf({ name }: KnownSecretMapping, { pods, serviceConfigs }: Users): readonly string[] {
  const users: string[] = [];
  for (const config of serviceConfigs)
    if (config.spec.secretMappings?.includes(name)) users.push(`ServiceConfig/${config.name}`);
  for (const pod of pods)
    if (!isOver(pod.pod) && mappingNames(pod).includes(name)) users.push(`Pod/${pod.name}`);
  return users.sort();
}

/** All errors of a mapping, as the webhook would report them for a pod that uses it. */
function mappingErrors({ spec }: KnownSecretMapping): readonly string[] {
  if (spec.tooLarge) return [tooLargeError('spec')];
  const place = 'spec.secrets';
  const reading = readSecretVariables(place, spec.secrets);
  if (!('value' in reading)) return reading.errors;
  return combineSecrets(reading.value.map((secret) => ({ ...secret, place }))).errors;
}

/** @param before the current status */
function secretMappingStatus(
  mapping: KnownSecretMapping,
  users: readonly string[],
  errors: readonly string[],
  before: SecretMappingStatus,
): SecretMappingStatus {
  const { generation: observedGeneration } = mapping;
  const conditions = [
    withTransition({ ...validity(errors), observedGeneration }, before.conditions),
  ] as const;
  const [valid] = conditions;
  const isKnown = before.observedGeneration === observedGeneration;
  return {
    ...{ observedGeneration, users: users.length, conditions },
    usedBy: users.slice(0, mostNamed),
    // changes only with the spec or the result: otherwise every reconciliation would write
    lastValidated:
      isKnown && before.conditions?.some(({ message }) => message === valid.message) && before.lastValidated
        ? before.lastValidated
        : now(),
  };
}

function now(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, 'Z');
}
