import type { NetworkPolicy } from '../../../core/egress/contract.ts';
import { parseHosts } from '../../../core/egress/hosts.ts';
import { egressPolicies } from '../../../core/egress/policies.ts';
import { unionOf, urlsOfPod, urlsOfSpec, type Wanted } from '../../../core/egress/wanted.ts';
import type { KnownPolicy } from '../../../runtime/cluster/project-policy.ts';
import { createClusterAddresses } from '../../../runtime/kube/cluster-addresses.ts';
import { createNameBook, type NameBook } from '../../../runtime/kube/cluster-addresses-names.ts';
import { systemResolver } from '../../../runtime/kube/cluster-addresses-resolver.ts';
import { gatherFacts } from '../../../runtime/kube/egress-facts.ts';
import type { CheckContext } from '../contract.ts';
import { shared } from '../shared.ts';
import { namespacesOf, policiesOf, serviceConfigsOf } from './objects.ts';
import { operatorOf } from './operator.ts';
import type { SeenPod } from './pods.ts';
import { protectedPodsOf } from './protected-pods.ts';
import { asUnread } from './unread.ts';

/** A namespace with protected pods or ServiceConfigs. */
export interface EgressOf {
  readonly namespace: string;
  readonly pods: readonly SeenPod[];
  /** As svc netpol would write them, with the addresses that DNS gives here. */
  readonly wanted: readonly NetworkPolicy[];
  /** The same with the addresses that the policies themselves name for each host. */
  readonly asNoted: readonly NetworkPolicy[];
  /** All of the namespace, whoever made them. */
  readonly policies: readonly KnownPolicy[];
}

/** @throws NotEvaluated */
export const egressOf = shared(async (context): Promise<readonly EgressOf[]> => {
  const [places, { labelled }, configs, policies, operator] = await Promise.all([
    ...[namespacesOf(context), protectedPodsOf(context), serviceConfigsOf(context), policiesOf(context)],
    operatorOf(context),
  ] as const);
  const vaultAddress = operator?.env['SVC_OPERATOR_VAULT_ADDR']?.replace(/\/$/, '');
  const podsIn = Map.groupBy(labelled, ({ namespace }) => namespace);
  const configsIn = Map.groupBy(configs ?? [], ({ namespace }) => namespace);
  const policiesIn = Map.groupBy(policies, ({ namespace }) => namespace);
  const gather = await gatherer(context, policiesIn);
  const found: EgressOf[] = [];
  for (const { name } of places) {
    const [pods, own] = [podsIn.get(name) ?? [], configsIn.get(name) ?? []];
    if (pods.length + own.length === 0) continue;
    const urls = [
      ...own.map(({ spec }) => urlsOfSpec(spec, vaultAddress)),
      ...pods.map(({ pod }) => urlsOfPod(pod, own, vaultAddress)),
    ];
    const gathered = await gather(name, unionOf(urls, own));
    found.push({ namespace: name, pods, policies: policiesIn.get(name) ?? [], ...gathered });
  }
  return found;
});

type Policies = ReadonlyMap<string, readonly KnownPolicy[]>;
type Gather = (namespace: string, wanted: Wanted) => Promise<Pick<EgressOf, 'wanted' | 'asNoted'>>;

/** What namespaces have in common is asked for once: time stands still. */
async function gatherer(context: CheckContext, policiesIn: Policies): Promise<Gather> {
  const client = await context.cluster();
  const now = () => 0;
  const resolved = createClusterAddresses({
    client,
    now,
    names: createNameBook({ now, resolver: systemResolver() }),
  });
  const noted = createClusterAddresses({ client, now, names: notedNames(policiesIn) });
  return async (namespace, wanted) => {
    try {
      const [one, other] = [
        await gatherFacts(namespace, wanted, resolved, context.signal),
        await gatherFacts(namespace, wanted, noted, context.signal),
      ].map((facts) => egressPolicies(facts).policies);
      return { wanted: one ?? [], asNoted: other ?? [] };
    } catch (error) {
      throw asUnread(error);
    }
  };
}

/** By namespace, as the policies there name them. */
function notedNames(policiesIn: Policies): NameBook {
  const noted = new Map(
    [...policiesIn].map(([namespace, policies]) => [
      namespace,
      new Map(policies.flatMap(({ hosts = '' }) => [...parseHosts(hosts)])),
    ]),
  );
  return {
    addressesOf: async (host, _signal, namespace = '') => noted.get(namespace)?.get(host) ?? [],
    remember() {},
  };
}
