import { setTimeout as sleep } from 'node:timers/promises';
import { parseAddress } from '../../../../core/egress/address.ts';
import { contains, parseBlock } from '../../../../core/egress/block.ts';
import { parseHosts } from '../../../../core/egress/hosts.ts';
import { policyNames } from '../../../../core/egress/names.ts';
import type { ObservedSpec } from '../../../../core/egress/observed-policy.ts';
import type { KnownPolicy } from '../../../../runtime/cluster/project-policy.ts';
import { type NameResolver, systemResolver } from '../../../../runtime/kube/cluster-addresses-resolver.ts';
import { unless } from '../../../../runtime/kube/unless.ts';
import { capped } from '../../cluster/capped.ts';
import { type EgressOf, egressOf } from '../../cluster/wanted-egress.ts';
import type { Check, CheckContext, CheckFailure } from '../../contract.ts';
import { passed, skipped, verdict } from '../../results.ts';

const asks = 5;
const pauseMs = 500;
/** Of the answers that pods get for a name: beyond it, connections fail often enough to be noticed. */
const mostUnlisted = 0.1;

export const namesListed: Check = {
  ...{ id: 'SVC-EGRESS-005', area: 'egress', level: 'warning', needs: 'cluster', timeoutMs: 90_000 },
  title: 'Names outside the cluster point to addresses that the egress policies list',
  cause:
    'The name points to ever other addresses, as those of large object stores do, and a policy by address lists those that the operator has seen within a day. DNS here may also answer otherwise than in the cluster.',
  fix: 'Name the blocks of the store in ServiceConfig.spec.proxy.storeCIDRs (or svc netpol --store-cidr). Where Cilium is, let the operator keep policies by name.',
  async run(context, signal) {
    const all = await egressOf(context);
    const byAddress = (await Promise.all(all.map((one) => hostsByAddress(one, context)))).flat();
    if (byAddress.length === 0) return skipped('No policy lists addresses of a name outside the cluster');
    const shares = await Promise.all(byAddress.map((one) => unlistedShare(one, context, signal)));
    const failures = byAddress.flatMap((one, index) => failureOf(one, shares[index]));
    if (shares.every((share) => share === undefined))
      return passed(undefined, 'DNS here knows none of the names.');
    return verdict(capped(failures), `${byAddress.length} names`);
  },
};

interface ListedHost {
  readonly subject: string;
  readonly host: string;
  readonly listed: readonly string[];
}

/** The names of its policies, unless a policy by name stands beside them. */
async function hostsByAddress(
  { namespace, policies }: EgressOf,
  context: CheckContext,
): Promise<ListedHost[]> {
  const client = await context.cluster();
  const names = Object.values(policyNames(namespace));
  const found = policies.filter(({ name, ours }) => ours && names.includes(name));
  const listedBy = await Promise.all(
    found.map(async (policy) => {
      const path = `/apis/cilium.io/v2/namespaces/${namespace}/ciliumnetworkpolicies/${policy.name}`;
      const { signal } = context;
      const byName = await unless(client.request({ path, signal }), 'KUBE_NOT_FOUND', 'KUBE_DENIED');
      return byName === undefined ? hostsOf(policy) : [];
    }),
  );
  return listedBy.flat();
}

function hostsOf({ namespace, name, hosts = '', spec }: KnownPolicy): ListedHost[] {
  const listed = blocksOf(spec);
  return [...parseHosts(hosts).keys()].map((host) => ({ subject: `${namespace}/${name}`, host, listed }));
}

function blocksOf({ egress }: ObservedSpec): string[] {
  return (egress ?? []).flatMap(({ to }) => (to ?? []).flatMap(({ ipBlock }) => ipBlock?.cidr ?? []));
}

/** Undefined where DNS gives no address here. */
async function unlistedShare(
  { host, listed }: ListedHost,
  { lookUps }: CheckContext,
  signal: AbortSignal,
): Promise<number | undefined> {
  const blocks = listed.flatMap((cidr) => parseBlock(cidr) ?? []);
  const resolve: NameResolver = lookUps?.resolver ?? systemResolver();
  let [answers, unlisted] = [0, 0];
  for (let ask = 0; ask < asks; ask += 1) {
    if (ask > 0) await sleep(lookUps?.pauseMs ?? pauseMs, undefined, { signal });
    for (const text of (await resolve(host, signal)).addresses) {
      const address = parseAddress(text);
      if (address === undefined) continue;
      const one = { address, prefix: address.toByteArray().length * 8 };
      answers += 1;
      if (!blocks.some((block) => contains(block, one))) unlisted += 1;
    }
  }
  return answers === 0 ? undefined : unlisted / answers;
}

function failureOf({ subject, host }: ListedHost, share: number | undefined): CheckFailure[] {
  if (share === undefined || share <= mostUnlisted) return [];
  const percent = Math.round(share * 100);
  return [{ subject, message: `${percent} % of the addresses that ${host} has now are not in it.` }];
}
