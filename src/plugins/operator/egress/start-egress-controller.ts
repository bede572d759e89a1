import { policyNames } from '../../../core/egress/names.ts';
import {
  type KnownPolicy,
  type PolicyObject,
  projectPolicy,
} from '../../../runtime/cluster/project-policy.ts';
import { type NameResolver, systemResolver } from '../../../runtime/kube/cluster-addresses-resolver.ts';
import { follow } from '../cluster/follow.ts';
import { type ControllerDeps, commonOptions, type Indexes } from '../controllers/deps.ts';
import { type Reconciled, runController } from '../controllers/run-controller.ts';
import { createEgressMetrics } from './egress-metrics.ts';
import { collection } from './keep-policy.ts';
import { createLook } from './look.ts';
import { tellChanges } from './tell.ts';
import { createTerm, defaultTuning, type EgressTerm, type EgressTuning } from './term.ts';
import { enqueueChanges } from './triggers.ts';

export interface EgressController {
  /** Whether the policy of its protected pods is in place; undefined: not known, or another replica leads. */
  egressPolicyOf(namespace: string): boolean | undefined;
  /** Names of policies of others that let its protected pods reach more; sorted. */
  wideningPoliciesOf(namespace: string): readonly string[];
  /** Resolves when the signal was aborted and nothing is under way; never rejects. */
  readonly closed: Promise<void>;
}

export interface EgressOptions {
  /** Of names outside of the cluster. Default: the name servers of this machine. */
  readonly resolver?: NameResolver;
  readonly tuning?: Partial<EgressTuning>;
}

/** Keeps `svc-egress-<namespace>` wherever there are protected pods or ServiceConfigs, while this replica leads. */
export function startEgressController(
  deps: ControllerDeps,
  indexes: Pick<Indexes, 'pods' | 'serviceConfigs'>,
  options: EgressOptions = {},
): EgressController {
  const { client, log, signal, cluster, leadership, events } = deps;
  const { resolver = systemResolver() } = options;
  const tuning: EgressTuning = { ...defaultTuning, ...options.tuning };
  const policies = follow<PolicyObject, KnownPolicy>({
    ...{ client, log, signal, path: collection, project: projectPolicy },
  });
  const metrics = createEgressMetrics(deps.metrics);
  const newTerm = () =>
    createTerm(client, resolver, tuning, ({ namespace, name }) =>
      log.info('egress.policy.applied', { namespace, policy: name }),
    );
  let term: EgressTerm = newTerm();
  const forget = leadership.onChange(() => {
    term = newTerm();
    metrics.show([]);
  });
  signal.addEventListener('abort', forget, { once: true });

  const look = createLook({ deps, indexes, policies, tuning });
  const reconcile = async (namespace: string, lead: AbortSignal): Promise<Reconciled> => {
    const current = term;
    const { state, next } = await look(namespace, current, lead);
    if (state === undefined) current.states.delete(namespace);
    else {
      tellChanges(namespace, current.states.get(namespace), state, { log, events });
      current.states.set(namespace, state);
    }
    if (current === term) metrics.show(current.states.values());
    return next;
  };

  const controller = runController({
    ...commonOptions(deps),
    name: 'egress',
    whenReady: async () => void (await Promise.all([cluster.whenSynced(), policies.whenSynced()])),
    *keys() {
      for (const { name } of cluster.namespaces.values()) yield name;
    },
    reconcile,
  });
  enqueueChanges(cluster, policies, controller.enqueue);
  return {
    egressPolicyOf(namespace) {
      const state = leadership.leading ? term.states.get(namespace) : undefined;
      return state?.applied && policies.get(`${namespace}/${policyNames(namespace).main}`) !== undefined;
    },
    wideningPoliciesOf: (namespace) => term.states.get(namespace)?.widening ?? [],
    closed: Promise.all([controller.closed, policies.closed]).then(() => {}),
  };
}
