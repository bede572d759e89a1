import { counted } from '../../../../core/counted.ts';
import { containersOf } from '../../../../core/injection/mutate/chosen.ts';
import { capped } from '../../cluster/capped.ts';
import { protectedPodsOf } from '../../cluster/protected-pods.ts';
import type { Check } from '../../contract.ts';
import { skipped, verdict } from '../../results.ts';

export const verification: Check = {
  ...{ id: 'SVC-OPERATOR-018', area: 'operator', level: 'error', needs: 'cluster', timeoutMs: 60_000 },
  title: 'Every protected pod verifies the certificate of the secrets server',
  cause:
    'VAULT_SKIP_VERIFY is true, by a ServiceConfig with skipVerify under an operator in development mode.',
  fix: 'Take skipVerify out, give the authority in operator.vaultCA, and make the pods anew.',
  async run(context) {
    const { labelled } = await protectedPodsOf(context);
    if (labelled.length === 0) return skipped('There are no protected pods');
    const failures = labelled.flatMap(({ key, pod }) => {
      const blind = containersOf(pod).filter(({ env = [] }) =>
        env.some(({ name, value }) => name === 'VAULT_SKIP_VERIFY' && value === 'true'),
      );
      const names = blind.map(({ name }) => name).join(', ');
      return names === '' ? [] : [{ subject: key, message: `It verifies nothing in: ${names}.` }];
    });
    return verdict(capped(failures), counted(labelled.length, 'pod'));
  },
};
