import type { Check, CheckResult } from '../../contract.ts';
import type { Host } from '../../host/contract.ts';
import { skipped } from '../../results.ts';

type Facts = Omit<Check, 'area' | 'needs' | 'run'>;

/** A check of the machine, as a node. */
export function hostCheck(facts: Facts, look: (host: Host) => CheckResult | Promise<CheckResult>): Check {
  return {
    ...facts,
    area: 'host',
    needs: 'node',
    async run({ host }) {
      if (host.platform !== 'linux') return skipped(`This machine runs ${host.platform}; nodes run Linux.`);
      return look(host);
    },
  };
}

/** What failures are told of. */
export const subject = 'this machine';
