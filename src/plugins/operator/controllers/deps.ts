import type { Metrics } from '../../../runtime/health/metrics.ts';
import type { EventRecorder } from '../../../runtime/kube/event-recorder.ts';
import type { ByNamespace } from '../cluster/by-namespace.ts';
import type { KnownPod, KnownSecretMapping, KnownServiceConfig } from '../cluster/contract.ts';
import type { Leadership, OperatorDeps } from '../contract.ts';
import type { ControllerOptions } from './run-controller.ts';

/** What each of the controllers is given. */
export interface ControllerDeps extends OperatorDeps {
  readonly leadership: Leadership;
  readonly metrics: Metrics;
  readonly events: EventRecorder;
}

/** Objects by namespace; made before any handler is set, so that they are current when those are called. */
export interface Indexes {
  readonly pods: ByNamespace<KnownPod>;
  readonly serviceConfigs: ByNamespace<KnownServiceConfig>;
  readonly secretMappings: ByNamespace<KnownSecretMapping>;
}

/** What is the same in all of them. */
export function commonOptions(deps: ControllerDeps) {
  const { leadership, metrics, log, signal, cluster } = deps;
  return {
    ...{ leadership, metrics, log, signal },
    whenReady: () => cluster.whenSynced(),
  } satisfies Partial<ControllerOptions>;
}
