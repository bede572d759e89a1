import { isExempt } from '../../../../core/cluster/protected.ts';
import { apiVersion } from '../../../../core/custom-resources/condition.ts';
import type { ServiceConfigStatus } from '../../../../core/custom-resources/service-config.ts';
import type { KnownServiceConfig } from '../../cluster/contract.ts';
import { joinedMistakes } from '../conditions.ts';
import { type ControllerDeps, commonOptions, type Indexes } from '../deps.ts';
import { createOwnStatus } from '../own-status.ts';
import { countsDiffer } from '../pod-changes.ts';
import { type Controller, runController } from '../run-controller.ts';
import { type Judgement, judgeServiceConfig } from './mistakes.ts';
import { serviceConfigStatus } from './status.ts';

/** Keeps the status of each ServiceConfig: its mistakes, its pods, and whether it is in force. */
export function startServiceConfigController(deps: ControllerDeps, indexes: Indexes): Controller {
  const { client, cluster, defaults, namespace: own } = deps;
  const { serviceConfigs, namespaces } = cluster;
  const status = createOwnStatus<ServiceConfigStatus, KnownServiceConfig>(
    ...([client, serviceConfigs, 'ServiceConfig', 'serviceconfigs'] as const),
  );
  const controller = runController({
    ...commonOptions(deps),
    name: 'service-config',
    *keys() {
      for (const { key } of serviceConfigs.values()) yield key;
    },
    async reconcile(key, signal) {
      const config = serviceConfigs.get(key);
      if (config === undefined) return undefined;
      const { namespace } = config;
      const judgement = judgeServiceConfig(config, mappingsOf(indexes, namespace), defaults, [
        ...indexes.serviceConfigs.in(namespace),
      ]);
      tellMistakes(deps, config, judgement);
      const wanted = serviceConfigStatus({
        ...{ config, judgement, pods: indexes.pods.in(namespace), exempt: isExempt(namespace, own) },
        ...{ namespace: namespaces.get(namespace), before: status.of(config).conditions },
      });
      await status.write(config, wanted, signal);
      return undefined;
    },
  });
  const enqueueAll = (namespace: string) => {
    for (const { key } of indexes.serviceConfigs.in(namespace)) controller.enqueue(key);
  };
  // blocks of several are judged together
  serviceConfigs.onChange(({ namespace }) => enqueueAll(namespace));
  cluster.secretMappings.onChange(({ namespace }) => enqueueAll(namespace));
  namespaces.onChange(({ name }) => enqueueAll(name));
  cluster.pods.onChange((pod, before, gone) => {
    if (countsDiffer(pod, before, gone)) enqueueAll(pod.namespace);
  });
  return controller;
}

function mappingsOf({ secretMappings }: Indexes, namespace: string) {
  return new Map([...secretMappings.in(namespace)].map(({ name, spec }) => [name, spec]));
}

function tellMistakes({ events }: ControllerDeps, config: KnownServiceConfig, { mistakes }: Judgement): void {
  if (mistakes.length === 0) return;
  const { namespace, name, uid } = config;
  events.record({
    regarding: { apiVersion, kind: 'ServiceConfig', namespace, name, uid },
    ...{ type: 'Warning', reason: 'SpecInvalid', action: 'Validate', note: joinedMistakes(mistakes) },
  });
}
