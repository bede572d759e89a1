import { isDeepStrictEqual } from 'node:util';
import type { NetworkPolicy } from '../../../../cluster/egress/contract.ts';
import { parseHosts } from '../../../../cluster/egress/hosts.ts';
import { egressPolicies } from '../../../../cluster/egress/policies.ts';
import { unionOf, urlsOfPod, urlsOfSpec, type Wanted } from '../../../../cluster/egress/wanted.ts';
import { type ObservedPolicy, wideningPolicies } from '../../../../cluster/egress/widening.ts';
import { createSelection } from '../../../../cluster/injection/protected-pods.ts';
import { createClusterAddresses } from '../../../../cluster/kube/cluster-addresses.ts';
import { gatherFacts } from '../../../../cluster/kube/gather-facts.ts';
import { createNameBook, type NameBook, systemResolver } from '../../../../cluster/kube/name-book.ts';
import type { KnownPolicy } from '../../../../cluster/kube/project-objects.ts';
import { type CheckContext, type CheckFailure, shared } from '../../check.ts';
import { operatorOf } from '../../cluster/operator.ts';
import { protectedPodsOf, type SeenPod } from '../../cluster/pods.ts';
import { asUnread, namespacesOf, policiesOf, serviceConfigsOf } from '../../cluster/read.ts';

/** What is wrong with the policies that svc writes for a namespace. */
export function policyProblems(found: EgressOf): readonly CheckFailure[] {
  return found.wanted.flatMap((wanted, index) => problemOf(found, wanted, found.asNoted[index]));
}

function problemOf(
  { namespace, policies, pods }: EgressOf,
  wanted: NetworkPolicy,
  asNoted: NetworkPolicy | undefined,
): readonly CheckFailure[] {
  const { name } = wanted.metadata;
  const subject = `${namespace}/${name}`;
  const found = policies.find((one) => one.name === name);
  if (found === undefined) {
    const [missing, level] = [
      'There is no such NetworkPolicy',
      pods.length > 0 ? 'error' : 'warning',
    ] as const;
    return [
      {
        subject,
        level,
        message: pods.length > 0 ? `${missing}: protected pods reach everything.` : `${missing}.`,
      },
    ];
  }
  if (saysTheSame(found, wanted)) return [];
  if (asNoted === undefined || !saysTheSame(found, asNoted)) {
    const whose = found.ours ? '' : ' It is not kept by the operator.';
    return [{ subject, message: `It differs from what svc netpol would write.${whose}` }];
  }
  // if no name resolves here, nothing contradicts the operator's addresses
  if (narrower(wanted, asNoted)) return [];
  return [
    {
      subject,
      level: 'warning',
      message: `Its addresses are not those that DNS gives here: ${found.hosts ?? ''}.`,
    },
  ];
}

/** Whether no address was resolved here that the other policy lacks. */
function narrower(wanted: NetworkPolicy, asNoted: NetworkPolicy): boolean {
  const known = blocksOf(asNoted);
  return [...blocksOf(wanted)].every((block) => known.has(block));
}

function blocksOf({ spec }: NetworkPolicy): ReadonlySet<string> {
  const peers = spec.egress.flatMap(({ to }) => to);
  return new Set(peers.flatMap((peer) => ('ipBlock' in peer ? [peer.ipBlock.cidr] : [])));
}

/** Whether the specs are equal. The API server omits empty lists. */
function saysTheSame({ spec }: ObservedPolicy, wanted: NetworkPolicy): boolean {
  const { egress = [], ...rest } = spec;
  return isDeepStrictEqual({ ...rest, egress }, { ...wanted.spec });
}

export function widenedBy({ namespace, pods, asNoted, policies }: EgressOf): readonly CheckFailure[] {
  const names = asNoted.map(({ metadata }) => metadata.name);
  const labels = new Set(pods.map(({ pod }) => pod.metadata.labels ?? {}));
  const others = policies.filter(({ name }) => !names.includes(name));
  return wideningPolicies({ ours: asNoted, others, pods: [...labels] }).map((name) => ({
    subject: `${namespace}/${name}`,
    message: 'It lets protected pods reach more than their egress policy does.',
  }));
}

/** A namespace with protected pods or ServiceConfigs. */
export interface EgressOf {
  readonly namespace: string;
  readonly pods: readonly SeenPod[];
  /** As svc netpol would write them, with the addresses that DNS returns here. */
  readonly wanted: readonly NetworkPolicy[];
  /** The same with the addresses that the existing policies note for each host. */
  readonly asNoted: readonly NetworkPolicy[];
  /** All policies of the namespace, whoever created them. */
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
    const configOf = createSelection(own);
    const urls = [
      ...own.map(({ spec }) => urlsOfSpec(spec, vaultAddress)),
      ...pods.map(({ pod }) => urlsOfPod(pod, configOf, vaultAddress)),
    ];
    const gathered = await gather(name, unionOf(urls, own));
    found.push({ namespace: name, pods, policies: policiesIn.get(name) ?? [], ...gathered });
  }
  return found;
});

type Policies = ReadonlyMap<string, readonly KnownPolicy[]>;
type Gather = (namespace: string, wanted: Wanted) => Promise<Pick<EgressOf, 'wanted' | 'asNoted'>>;

/** Facts shared by namespaces are read only once, because the clock stands still. */
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

/** Addresses by namespace and host, as noted by the policies there. */
function notedNames(policiesIn: Policies): NameBook {
  const noted = new Map(
    [...policiesIn].map(([namespace, policies]) => [
      namespace,
      new Map(policies.flatMap(({ hosts = '' }) => [...parseHosts(hosts)])),
    ]),
  );
  return {
    addressesOf: async (host, _signal, namespace = '') => noted.get(namespace)?.get(host) ?? [],
    isPending: () => false,
    unseenMs: () => 0,
    remember() {},
    isFull: () => false,
  };
}
