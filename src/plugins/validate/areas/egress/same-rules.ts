import { isDeepStrictEqual } from 'node:util';
import type { NetworkPolicy } from '../../../../core/egress/contract.ts';
import type { ObservedPolicy } from '../../../../core/egress/observed-policy.ts';

/** The API server leaves an empty list out. */
export function saysTheSame({ spec }: ObservedPolicy, wanted: NetworkPolicy): boolean {
  const { egress = [], ...rest } = spec;
  return isDeepStrictEqual({ ...rest, egress }, { ...wanted.spec });
}
