import { isDeepStrictEqual } from 'node:util';
import type { NetworkPolicy } from '../../../../core/egress/contract.ts';
import type { ObservedPolicy } from '../../../../core/egress/observed-policy.ts';
import type { EgressOf } from '../../cluster/wanted-egress.ts';
import type { CheckFailure } from '../../contract.ts';

/** What is wrong with the policies of a namespace that svc writes. */
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
    return [{ subject, message: `It says something else than svc netpol would write.${whose}` }];
  }
  // where no name is known here, nothing contradicts what the operator found
  if (narrower(wanted, asNoted)) return [];
  return [
    {
      subject,
      level: 'warning',
      message: `It names other addresses than DNS gives here: ${found.hosts ?? ''}.`,
    },
  ];
}

/** Nothing was resolved here that the other one has not. */
function narrower(wanted: NetworkPolicy, asNoted: NetworkPolicy): boolean {
  const known = blocksOf(asNoted);
  return [...blocksOf(wanted)].every((block) => known.has(block));
}

function blocksOf({ spec }: NetworkPolicy): ReadonlySet<string> {
  const peers = spec.egress.flatMap(({ to }) => to);
  return new Set(peers.flatMap((peer) => ('ipBlock' in peer ? [peer.ipBlock.cidr] : [])));
}

/** The API server leaves an empty list out. */
function saysTheSame({ spec }: ObservedPolicy, wanted: NetworkPolicy): boolean {
  const { egress = [], ...rest } = spec;
  return isDeepStrictEqual({ ...rest, egress }, { ...wanted.spec });
}
