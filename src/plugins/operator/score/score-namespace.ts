import { isExempt } from '../../../core/cluster/protected.ts';
import { isLabelled } from '../../../core/kubernetes/labels.ts';
import type { Score } from '../../../core/score/contract.ts';
import { scoreOf } from '../../../core/score/score-of.ts';
import { isConcerned } from '../../../core/score/workloads/concerned.ts';
import { factsOf } from '../../../core/score/workloads/facts.ts';
import { groupsOf } from '../../../core/score/workloads/groups.ts';
import type { ScoreDeps } from './deps.ts';
import type { Templates } from './templates.ts';

/** The scores of all workloads of a namespace that are protected or ought to be; none where the webhook never looks. */
export function scoreNamespace(deps: ScoreDeps, templates: Templates, namespace: string): readonly Score[] {
  const { cluster, indexes, nodes } = deps;
  const known = cluster.namespaces.get(namespace);
  if (known === undefined || known.terminating || isExempt(namespace, deps.namespace)) return [];
  const surroundings = {
    labelled: isLabelled(known.labels),
    serviceConfigs: [...indexes.serviceConfigs.in(namespace)],
    nodes,
    egressPolicy: deps.egress.egressPolicyOf(namespace),
    wideningPolicies: deps.egress.wideningPoliciesOf(namespace),
  };
  return groupsOf(indexes.pods.in(namespace), templates.in(namespace), cluster.workloads.ownerOf)
    .filter((group) => isConcerned(group, surroundings))
    .map((group) => scoreOf(factsOf(group, surroundings)));
}
