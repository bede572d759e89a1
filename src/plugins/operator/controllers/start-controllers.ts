import { fieldManager } from '../../../core/kubernetes/ownership.ts';
import type { Health } from '../../../runtime/health/health.ts';
import type { Metrics } from '../../../runtime/health/metrics.ts';
import { createEventRecorder, type EventRecorder } from '../../../runtime/kube/event-recorder.ts';
import { byNamespace } from '../cluster/by-namespace.ts';
import type { Leadership, OperatorDeps } from '../contract.ts';
import { type AuthorityFile, followAuthorityFile } from './authorities/authority-file.ts';
import { startCaConfigMapController } from './ca-config-map.ts';
import type { ControllerDeps, Indexes } from './deps.ts';
import { startNamespaceLabelController } from './namespace-label/start.ts';
import { startSecretMappingController } from './secret-mapping/start.ts';
import { startServiceConfigController } from './service-config/start.ts';

export interface StartControllers extends OperatorDeps {
  readonly leadership: Leadership;
  readonly metrics: Metrics;
  readonly health: Health;
  /** Name of this replica, for events. */
  readonly identity: string;
  /** PEM file with the private authorities of the secrets server; undefined: there are none. */
  readonly caFile: string | undefined;
}

export interface Controllers {
  /** For the controllers of other parts, too. */
  readonly events: EventRecorder;
  readonly indexes: Indexes;
  /** Whether pods of this namespace would be given authorities of somebody else. */
  hasForeignAuthorities(namespace: string): boolean;
  /** Resolves when the signal was aborted and nothing is under way; never rejects. */
  readonly closed: Promise<void>;
}

/**
 * Starts the controllers of ServiceConfigs, SecretMappings, namespace labels and, with a file, of its config maps.
 * @throws SvcError (exit 78) when the file cannot be used
 */
export async function startControllers(options: StartControllers): Promise<Controllers> {
  const { client, log, signal, identity: instance, cluster } = options;
  const authorities = await authoritiesOf(options);
  const events = createEventRecorder({ client, log, signal, instance, controller: fieldManager });
  const deps: ControllerDeps & { readonly health: Health } = { ...options, events };
  const indexes: Indexes = {
    pods: byNamespace(cluster.pods),
    serviceConfigs: byNamespace(cluster.serviceConfigs),
    secretMappings: byNamespace(cluster.secretMappings),
  };
  const configMaps = authorities && startCaConfigMapController({ ...deps, authorities }, indexes);
  const controllers = [
    startServiceConfigController(deps, indexes),
    startSecretMappingController(deps, indexes),
    startNamespaceLabelController(deps, indexes),
    ...(configMaps ? [configMaps] : []),
  ];
  const closed = Promise.all(
    [...controllers, ...(authorities ? [authorities] : [])].map((one) => one.closed),
  );
  return {
    ...{ events, indexes, closed: closed.then(() => events.settled()) },
    hasForeignAuthorities: (namespace) => configMaps?.isForeign(namespace) ?? false,
  };
}

async function authoritiesOf(options: StartControllers): Promise<AuthorityFile | undefined> {
  const { caFile: path, log, health, signal } = options;
  return path === undefined ? undefined : followAuthorityFile({ path, log, health, signal });
}
