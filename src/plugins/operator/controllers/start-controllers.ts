import type { InjectionDefaults } from '../../../cluster/injection/contract.ts';
import { carriesWrapper, isExempt, isOver } from '../../../cluster/injection/protected-pods.ts';
import { resolveInjection } from '../../../cluster/injection/resolve/resolve-injection.ts';
import { createEventRecorder, type EventRecorder } from '../../../cluster/kube/event-recorder.ts';
import type { TooLarge } from '../../../cluster/kube/known-objects.ts';
import { fieldManager, isLabelled, protectedLabel, selects } from '../../../cluster/kube/labels.ts';
import type { Pod } from '../../../cluster/kube/pod.ts';
import type {
  Condition,
  SecretMappingSpec,
  ServiceConfigStatus,
} from '../../../cluster/resources/resources.ts';
import type { Health, Metrics } from '../../../runtime/health/health.ts';
import {
  byNamespace,
  countsDiffer,
  type KnownNamespace,
  type KnownPod,
  type KnownServiceConfig,
  maxConfigs,
  specDiffers,
  tooManyConfigs,
} from '../cluster-view.ts';
import type { Leadership, OperatorDeps } from '../contract.ts';
import { type AuthorityPaths, followAuthorityFiles } from './authority-files.ts';
import { startCaConfigMapController } from './ca-config-map.ts';
import { startNamespaceLabelController } from './namespace-label.ts';
import type { Controller, ControllerDeps, Indexes } from './run-controller.ts';
import { startSecretMappingController } from './secret-mapping.ts';
import {
  joinedErrors,
  type NewCondition,
  startStatusController,
  validity,
  withTransition,
} from './status.ts';

export interface StartControllers extends OperatorDeps {
  readonly leadership: Leadership;
  readonly metrics: Metrics;
  readonly health: Health;
  /** Name of this replica, for events. */
  readonly identity: string;
  readonly authorityPaths: AuthorityPaths;
}

export interface Controllers {
  /** Also for controllers of other parts. */
  readonly events: EventRecorder;
  readonly indexes: Indexes;
  /** Whether pods of a namespace would get somebody else's authorities; undefined if pods get none at all. */
  readonly hasForeignAuthorities: ((namespace: string) => boolean) | undefined;
  /** Resolves once the signal was aborted and no work is in progress; never rejects. */
  readonly closed: Promise<void>;
}

/**
 * Starts the controllers of ServiceConfigs, SecretMappings, namespace labels and, if there are private authorities,
 * their config maps.
 * @throws SvcError (exit 78) if a file of authorities cannot be used
 */
export async function startControllers(options: StartControllers): Promise<Controllers> {
  const { client, log, signal, identity: instance, cluster } = options;
  const authorities = await followAuthorityFiles(options.authorityPaths, options);
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
    hasForeignAuthorities: configMaps?.isForeign,
  };
}

/** Maintains the status of each ServiceConfig: its errors, its pods, and whether it is in force. */
function startServiceConfigController(deps: ControllerDeps, indexes: Indexes): Controller {
  const { cluster, defaults, namespace: own } = deps;
  const { serviceConfigs, namespaces } = cluster;
  const controller = startStatusController<ServiceConfigStatus, KnownServiceConfig>(deps, {
    ...{ name: 'service-config', kind: 'ServiceConfig', plural: 'serviceconfigs', objects: serviceConfigs },
    judge(config, { conditions: before }) {
      const { namespace } = config;
      const excess = excessIn(indexes, namespace);
      const judgement =
        excess.length > 0
          ? { errors: excess, left: [] }
          : judgeServiceConfig(config, mappingsOf(indexes, namespace), defaults, [
              ...indexes.serviceConfigs.in(namespace),
            ]);
      const status = serviceConfigStatus({
        ...{ config, judgement, pods: indexes.pods.in(namespace), exempt: isExempt(namespace, own) },
        ...{ namespace: namespaces.get(namespace), before },
      });
      return { errors: judgement.errors, status };
    },
  });
  const enqueueAll = (namespace: string) => {
    for (const { key } of indexes.serviceConfigs.in(namespace)) controller.enqueue(key);
  };
  // all ServiceConfigs of a namespace are judged together, so a change of one may affect the others
  serviceConfigs.onChange((config, before, gone) => {
    if (specDiffers(config, before, gone)) enqueueAll(config.namespace);
    else controller.enqueue(config.key);
  });
  cluster.secretMappings.onChange((mapping, before, gone) => {
    if (specDiffers(mapping, before, gone)) enqueueAll(mapping.namespace);
  });
  namespaces.onChange(({ name }) => enqueueAll(name));
  cluster.pods.onChange((pod, before, gone) => {
    if (!countsDiffer(pod, before, gone)) return;
    for (const config of selecting(indexes, pod, before)) controller.enqueue(config.key);
  });
  return controller;
}

/** ServiceConfigs that count a pod, or did before it changed; none where there are too many to be in force. */
function* selecting(
  { serviceConfigs }: Indexes,
  { namespace, pod }: KnownPod,
  before: KnownPod | undefined,
): Generator<KnownServiceConfig> {
  if (serviceConfigs.count(namespace) > maxConfigs) return;
  const { labels } = pod.metadata;
  const former = before?.pod.metadata.labels ?? labels;
  for (const config of serviceConfigs.in(namespace)) {
    const { selector } = config.spec;
    if (selects(selector, labels) || (former !== labels && selects(selector, former))) yield config;
  }
}

function excessIn(indexes: Indexes, namespace: string): readonly string[] {
  return (['serviceConfigs', 'secretMappings'] as const)
    .filter((kind) => indexes[kind].count(namespace) > maxConfigs)
    .map((kind) => tooManyConfigs(namespace, kind.toLowerCase()));
}

function mappingsOf({ secretMappings }: Indexes, namespace: string) {
  return new Map([...secretMappings.in(namespace)].map(({ name, spec }) => [name, spec]));
}

export interface StatusFacts {
  readonly config: KnownServiceConfig;
  readonly namespace: KnownNamespace | undefined;
  /** The webhook is never asked about pods of this namespace. */
  readonly exempt: boolean;
  /** In the ServiceConfig's namespace. */
  readonly pods: Iterable<KnownPod>;
  readonly judgement: Judgement;
  readonly before: readonly Condition[] | undefined;
}

function serviceConfigStatus(facts: StatusFacts): ServiceConfigStatus {
  const { config, before } = facts;
  const counts = countPods(config, facts.pods);
  const conditions = [configValidity(facts.judgement), readiness(facts, counts)].map((condition) =>
    withTransition({ ...condition, observedGeneration: config.generation }, before),
  );
  return { observedGeneration: config.generation, ...counts, conditions };
}

interface Counts {
  readonly matchedPods: number;
  readonly protectedPods: number;
}

function countPods({ spec }: KnownServiceConfig, pods: Iterable<KnownPod>): Counts {
  let matchedPods = 0;
  let protectedPods = 0;
  for (const { pod } of pods) {
    if (isOver(pod) || !selects(spec.selector, pod.metadata.labels)) continue;
    matchedPods++;
    if (carriesWrapper(pod)) protectedPods++;
  }
  return { matchedPods, protectedPods };
}

function configValidity({ errors, left }: Judgement): NewCondition {
  if (left.length === 0) return validity(errors);
  return validity(errors, `Its spec has no errors; each pod must add: ${joinedErrors(left)}`);
}

/** The first reason that applies. */
function readiness(facts: StatusFacts, counts: Counts): NewCondition {
  const { namespace, exempt, judgement } = facts;
  const notReady = (reason: string, message: string): NewCondition => ({
    ...{ type: 'Ready', status: 'False', reason, message },
  });
  if (judgement.errors.length > 0)
    return notReady('SpecInvalid', 'Pods that it selects are refused until its errors are fixed.');
  if (exempt) return notReady('NamespaceExempt', 'Pods of this namespace are never protected; use another.');
  if (!isLabelled(namespace?.labels)) return notReady('NamespaceNotLabelled', labelMessage(namespace));
  return { type: 'Ready', status: 'True', reason: 'Enforced', message: readyMessage(counts) };
}

function labelMessage(namespace: KnownNamespace | undefined): string {
  const value = namespace?.labels[protectedLabel];
  return value === undefined
    ? `The webhook is not called for pods until the namespace is labelled ${protectedLabel}=true.`
    : `The namespace has the label ${protectedLabel}=${value}: remove it or set it to true.`;
}

function readyMessage({ matchedPods, protectedPods }: Counts): string {
  const missing = matchedPods - protectedPods;
  return missing === 0
    ? 'New pods that it selects are protected.'
    : `New pods that it selects are protected; ${missing} without the wrapper must be recreated.`;
}

interface Judgement {
  /** Of the ServiceConfig itself: the webhook refuses the pods that it selects. */
  readonly errors: readonly string[];
  /** Required settings that it leaves to the annotations of its pods. */
  readonly left: readonly string[];
}

/** Judges as the webhook would for a pod without settings of its own. */
function judgeServiceConfig(
  config: KnownServiceConfig,
  secretMappings: ReadonlyMap<string, SecretMappingSpec & TooLarge>,
  defaults: InjectionDefaults,
  all: readonly KnownServiceConfig[] = [],
): Judgement {
  const { name, namespace, created, spec } = config;
  const resolution = resolveInjection(plainPod(config), {
    ...{ namespace, namespaceLabels: {}, secretMappings, defaults },
    serviceConfigs: [{ name, created, spec: { ...spec, selector: {} } }, ...othersThan(config, all)],
  });
  const found = resolution.kind === 'deny' ? resolution.errors : [];
  return {
    errors: found.filter((error) => !isLeft(error)),
    left: found.filter(isLeft),
  };
}

/** The namespace's other ServiceConfigs, changed to select no pod: only their namespace-wide parts count here. */
function othersThan({ name }: KnownServiceConfig, all: readonly KnownServiceConfig[]): KnownServiceConfig[] {
  const selector = { matchExpressions: [{ key: 'app', operator: 'In' as const, values: [] }] };
  return all
    .filter((other) => other.name !== name && other.spec.egress !== undefined)
    .map((other) => ({ ...other, spec: { ...other.spec, selector } }));
}

/** A pod with the containers that the ServiceConfig names. */
function plainPod({ namespace, spec }: KnownServiceConfig): Pod {
  const { containers = ['application'] } = spec;
  return { metadata: { name: 'pod', namespace }, spec: { containers: containers.map((name) => ({ name })) } };
}

/** An error that begins with an annotation names a setting that the pod must add. */
function isLeft(error: string): boolean {
  return /^svc\/[a-z-]+: required,/.test(error);
}
