import { counted } from '../../../../core/counted.ts';
import { capped } from '../../cluster/capped.ts';
import { secretMappingsOf } from '../../cluster/objects.ts';
import type { Check } from '../../contract.ts';
import { skipped, verdict } from '../../results.ts';
import { conditionFailures } from './conditions.ts';

export const secretMappings: Check = {
  ...{ id: 'SVC-OPERATOR-014', area: 'operator', level: 'error', needs: 'cluster' },
  title: 'Every SecretMapping is valid',
  cause: 'Paths or names of variables in it are mistaken, or contradict each other.',
  fix: 'Do what its conditions say: kubectl describe secretmapping.',
  async run(context) {
    const mappings = (await secretMappingsOf(context)) ?? [];
    if (mappings.length === 0) return skipped('There are no SecretMappings');
    return verdict(
      capped(mappings.flatMap((mapping) => conditionFailures(mapping, ['Valid']))),
      counted(mappings.length, 'SecretMapping'),
    );
  },
};
