import { isOver } from '../../../../core/cluster/protected.ts';
import { apiVersion } from '../../../../core/custom-resources/condition.ts';
import type { SecretMappingStatus } from '../../../../core/custom-resources/secret-mapping.ts';
import type { KnownPod, KnownSecretMapping } from '../../cluster/contract.ts';
import { joinedMistakes } from '../conditions.ts';
import { type ControllerDeps, commonOptions, type Indexes } from '../deps.ts';
import { createOwnStatus } from '../own-status.ts';
import { mappingNames } from '../pod-changes.ts';
import { type Controller, runController } from '../run-controller.ts';
import { mappingMistakes, secretMappingStatus, usersOf } from './status.ts';

/** Keeps the status of each SecretMapping: its mistakes, and who uses it. */
export function startSecretMappingController(deps: ControllerDeps, indexes: Indexes): Controller {
  const { secretMappings, serviceConfigs, pods } = deps.cluster;
  const status = createOwnStatus<SecretMappingStatus, KnownSecretMapping>(
    ...([deps.client, secretMappings, 'SecretMapping', 'secretmappings'] as const),
  );
  const controller = runController({
    ...commonOptions(deps),
    name: 'secret-mapping',
    *keys() {
      for (const { key } of secretMappings.values()) yield key;
    },
    async reconcile(key, signal) {
      const mapping = secretMappings.get(key);
      if (mapping === undefined) return undefined;
      const { namespace } = mapping;
      const within = {
        pods: indexes.pods.in(namespace),
        serviceConfigs: indexes.serviceConfigs.in(namespace),
      };
      const mistakes = mappingMistakes(mapping);
      tellMistakes(deps, mapping, mistakes);
      const wanted = secretMappingStatus(mapping, usersOf(mapping, within), mistakes, status.of(mapping));
      await status.write(mapping, wanted, signal);
      return undefined;
    },
  });
  const enqueueNamed = (namespace: string, names: readonly string[] = []) => {
    for (const name of names) controller.enqueue(`${namespace}/${name}`);
  };
  secretMappings.onChange(({ key }, _before, gone) => !gone && controller.enqueue(key));
  serviceConfigs.onChange((config, before) => {
    enqueueNamed(config.namespace, config.spec.secretMappings);
    enqueueNamed(config.namespace, before?.spec.secretMappings);
  });
  pods.onChange((pod, before, gone) => {
    if (usesDiffer(pod, before, gone))
      enqueueNamed(pod.namespace, [...mappingNames(pod), ...(before ? mappingNames(before) : [])]);
  });
  return controller;
}

/** Annotations of pods that are alike are one object, see the cluster's view; an unequal one may be the same text. */
function usesDiffer({ pod }: KnownPod, before: KnownPod | undefined, gone: boolean): boolean {
  if (gone || before === undefined) return true;
  return isOver(pod) !== isOver(before.pod) || pod.metadata.annotations !== before.pod.metadata.annotations;
}

function tellMistakes(
  { events }: ControllerDeps,
  { namespace, name, uid }: KnownSecretMapping,
  mistakes: readonly string[],
): void {
  if (mistakes.length === 0) return;
  events.record({
    regarding: { apiVersion, kind: 'SecretMapping', namespace, name, uid },
    ...{ type: 'Warning', reason: 'SpecInvalid', action: 'Validate', note: joinedMistakes(mistakes) },
  });
}
