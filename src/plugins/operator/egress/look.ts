import { isExempt, isProtected } from '../../../core/cluster/protected.ts';
import { policyNames } from '../../../core/egress/names.ts';
import type { Wanted } from '../../../core/egress/wanted.ts';
import type { KnownPolicy } from '../../../runtime/cluster/project-policy.ts';
import { byNamespace } from '../cluster/by-namespace.ts';
import type { Followed } from '../cluster/contract.ts';
import type { ControllerDeps, Indexes } from '../controllers/deps.ts';
import { type Found, type ReconcileDeps, reconcileNamespace, retire } from './reconcile-namespace.ts';
import type { EgressTerm, EgressTuning } from './term.ts';
import { wantedIn } from './wanted.ts';

export interface LookOptions {
  readonly deps: ControllerDeps;
  readonly indexes: Pick<Indexes, 'pods' | 'serviceConfigs'>;
  readonly policies: Followed<KnownPolicy>;
  readonly tuning: EgressTuning;
}

/** Looks at a namespace and does what is to be done; `state` is undefined where it needs no policy. */
export type Look = (
  namespace: string,
  term: EgressTerm,
  signal: AbortSignal,
) => Promise<Partial<Found> & Pick<Found, 'next'>>;

export function createLook({ deps, indexes, policies, tuning }: LookOptions): Look {
  const { client, log, cluster, defaults } = deps;
  const { in: policiesIn } = byNamespace(policies);
  return async (namespace, term, signal) => {
    const place = cluster.namespaces.get(namespace);
    // what is in a namespace that ends, ends with it
    if (place === undefined || place.terminating) return { next: undefined };
    const pods = [...indexes.pods.in(namespace)].filter(({ pod }) => isProtected(pod));
    const serviceConfigs = indexes.serviceConfigs.in(namespace);
    const { vaultAddress } = defaults;
    const wanted: Wanted | undefined = isExempt(namespace, deps.namespace)
      ? undefined
      : wantedIn({ pods, serviceConfigs, vaultAddress });
    const given: ReconcileDeps = { client, log, tuning, term, policiesIn, policyOf: policies.get };
    if (wanted !== undefined) return reconcileNamespace(namespace, wanted, pods, given, signal);
    const laterMs = await retire(namespace, Object.values(policyNames(namespace)), given, signal);
    return { next: laterMs === undefined ? undefined : { requeueAfterMs: laterMs } };
  };
}
