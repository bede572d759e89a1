import type { CheckFailure } from '../../contract.ts';
import { skipped, verdict } from '../../results.ts';
import { type Granted, granted } from './granted.ts';
import { forWrapper } from './identity.ts';
import { kvPlaces } from './kv-places.ts';
import { vaultCheck } from './vault-check.ts';

export const policySuffices = vaultCheck(
  {
    id: 'SVC-VAULT-008',
    title: 'The policy of the login permits what it needs',
    level: 'error',
    cause:
      'A path is missing in the policy, or has other capabilities. KV version 2 needs <mount>/data/<name>.',
    fix: 'For a proxy grant update on <transit>/encrypt/<key> and <transit>/decrypt/<key>; for a wrapper read on each KV path.',
  },
  async (_vault, context) => {
    const nowhere = forWrapper(context.config) ? (await kvPlaces(context)).failures : [];
    const all = await granted(context);
    if (nowhere.length === 0 && all.every(({ wanted }) => wanted.length === 0))
      return skipped('A wrapper without KV paths needs nothing: give --secrets or SVC_SECRET_PATHS.');
    return verdict([...nowhere, ...all.flatMap(lacking)]);
  },
);

export const policyExact = vaultCheck(
  {
    id: 'SVC-VAULT-009',
    title: 'The policy of the login permits nothing else',
    level: 'error',
    cause:
      'The token is of root or of a person, or a policy has a wildcard, sudo, or more capabilities than are used. Whoever takes over the workload then has them, too.',
    fix: 'Write a policy of exactly the paths and capabilities of the specification, give it to the role alone, and take the others away. With --identity say whose policy it is.',
  },
  async (_vault, context) => verdict(collected((await granted(context)).flatMap(beyond))),
);

function lacking({ path, wanted, has }: Granted): readonly CheckFailure[] {
  if (has.includes('root')) return [];
  const missing = wanted.filter((one) => !has.includes(one));
  return missing.length === 0 ? [] : [{ subject: path, message: `${missing.join(', ')} is not permitted.` }];
}

function beyond({ path, wanted, has }: Granted): readonly CheckFailure[] {
  const more = has.filter((one) => !wanted.includes(one));
  return more.length === 0 ? [] : [{ subject: path, message: `It permits ${more.join(', ')}.` }];
}

/** A token of root would be told of for every path. */
function collected(failures: readonly CheckFailure[]): readonly CheckFailure[] {
  if (!failures.every(({ message }) => message === 'It permits root.')) return failures;
  return failures.length === 0
    ? []
    : [{ subject: 'token', message: 'It is a token of root: everything is permitted.' }];
}
