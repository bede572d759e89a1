import { setTimeout as sleep } from 'node:timers/promises';
import { contains, parseAddress, parseBlock } from '../../../../cluster/egress/address.ts';
import { hostsAnnotation, type NetworkPolicy, policyNames } from '../../../../cluster/egress/contract.ts';
import { parseHosts } from '../../../../cluster/egress/hosts.ts';
import type { ObservedSpec } from '../../../../cluster/egress/widening.ts';
import { unless } from '../../../../cluster/kube/client.ts';
import { type NameResolver, systemResolver } from '../../../../cluster/kube/name-book.ts';
import type { KnownPolicy } from '../../../../cluster/kube/project-objects.ts';
import { type CheckContext, type CheckFailure, passed, skipped, verdict } from '../../check.ts';
import { capped } from '../../cluster/read.ts';
import { clusterCheck } from '../../make-check.ts';
import { type EgressOf, egressOf } from './policies.ts';

const asks = 5;
const pauseMs = 500;
/** Tolerated share of a name's addresses that no policy lists: above it, connections fail noticeably often. */
const maxUnlisted = 0.1;

export const namesListed = clusterCheck('SVC-EGRESS-005', 'warning', {
  timeoutMs: 90_000,
  title: 'Names outside the cluster point to addresses that the egress policies list',
  cause:
    'The addresses of the name keep changing, as those of large object stores do, and a policy by address lists those that the operator has seen within a day. DNS here may also differ from DNS in the cluster.',
  fix: 'Name the blocks of the store in ServiceConfig.spec.proxy.storeCIDRs (or svc netpol --store-cidr). With Cilium, let the operator maintain policies by name.',
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
});

interface ListedHost {
  readonly subject: string;
  readonly host: string;
  readonly listed: readonly string[];
}

/** The hosts in a namespace's policies by address, unless there is also a policy by name. */
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

/** Undefined if DNS returns no address here. */
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
  if (share === undefined || share <= maxUnlisted) return [];
  const percent = Math.round(share * 100);
  return [{ subject, message: `${percent} % of the addresses that ${host} has now are not in it.` }];
}

const maxNamed = 5;

/**
 * The assumption about addresses, as a sentence. A laptop's DNS may not resolve the pods' destinations, and addresses
 * rotate: neither contradicts a policy.
 */
export function onTrust(all: readonly EgressOf[]): string | undefined {
  const names = [...new Set(all.flatMap(trustedNames))].sort();
  if (names.length === 0) return undefined;
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '';
  const listed = `${names.slice(0, maxNamed).join(', ')}${more}`;
  return `Addresses of ${listed} are those that the policies name, because they could not be resolved here.`;
}

/** Names for which policies list addresses that DNS does not return here. */
function trustedNames({ wanted, asNoted }: EgressOf): readonly string[] {
  return asNoted.flatMap((noted, index) => {
    const here = notedHosts(wanted[index]);
    return [...notedHosts(noted)]
      .filter(([host, addresses]) => !addresses.every((one) => here.get(host)?.includes(one)))
      .map(([host]) => host);
  });
}

const notedHosts = (policy: NetworkPolicy | undefined) =>
  parseHosts(policy?.metadata.annotations?.[hostsAnnotation] ?? '');
