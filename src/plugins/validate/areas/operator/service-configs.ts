import { counted } from '../../../../core/counted.ts';
import { capped } from '../../cluster/capped.ts';
import { serviceConfigsOf } from '../../cluster/objects.ts';
import type { Check } from '../../contract.ts';
import { skipped, verdict } from '../../results.ts';
import { conditionFailures } from './conditions.ts';

export const serviceConfigs: Check = {
  ...{ id: 'SVC-OPERATOR-013', area: 'operator', level: 'error', needs: 'cluster' },
  title: 'Every ServiceConfig is valid and in force',
  cause:
    'A mistake in its spec, a SecretMapping that is missing, or a namespace whose label somebody else keeps.',
  fix: 'Do what its conditions say: kubectl describe serviceconfig.',
  async run(context) {
    const configs = (await serviceConfigsOf(context)) ?? [];
    if (configs.length === 0) return skipped('There are no ServiceConfigs');
    return verdict(
      capped(configs.flatMap((config) => conditionFailures(config, ['Valid', 'Ready']))),
      counted(configs.length, 'ServiceConfig'),
    );
  },
};
