import { nearest } from '../../../../core/settings/suggest.ts';
import type { Check, CheckFailure } from '../../contract.ts';
import { verdict } from '../../results.ts';

/** What Kubernetes sets for Services whose names begin with svc. */
const ofService = /_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_.*)?)$/;

/** Other programs have variables with the same beginning. */
const farthest = 2;

export const unknownVariables: Check = {
  ...{ id: 'SVC-CONFIG-003', area: 'configuration', level: 'warning', needs: 'none' },
  title: 'No variable is a mistyped one of svc',
  cause:
    'The name of a variable differs by a letter or two from one that svc reads, so that svc does not see it.',
  fix: 'Correct the name, or take the variable away.',
  async run({ env, components }) {
    const known = (await components()).flatMap(({ settings }) =>
      Object.values(settings).map(({ variable }) => variable),
    );
    const given = Object.keys(env).filter((name) => /^(SVC|VAULT)_/.test(name) && !ofService.test(name));
    return verdict(given.flatMap((name) => mistyped(name, known)));
  },
};

function mistyped(name: string, known: readonly string[]): readonly CheckFailure[] {
  if (known.includes(name)) return [];
  const meant = nearest(name, known, farthest);
  return meant === undefined ? [] : [{ subject: name, message: `It is read by nothing; ${meant} is.` }];
}
