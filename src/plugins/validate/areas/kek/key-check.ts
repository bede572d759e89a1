import type { Check, CheckContext, CheckResult } from '../../contract.ts';
import { skipped } from '../../results.ts';
import { forProxy } from '../secrets-server/identity.ts';
import { type TransitKey, transitKey } from './transit-key.ts';

type Facts = Omit<Check, 'area' | 'needs' | 'run'>;

/** A check of the KEK. */
export function keyCheck(facts: Facts, look: (key: TransitKey, context: CheckContext) => CheckResult): Check {
  return {
    ...facts,
    area: 'kek',
    needs: 'vault',
    async run(context) {
      if (!forProxy(context.config)) return skipped('The identity is that of a wrapper, which uses no key.');
      return look(await transitKey(context), context);
    },
  };
}
