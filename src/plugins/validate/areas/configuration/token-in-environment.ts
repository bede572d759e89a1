import type { Check } from '../../contract.ts';
import { failed, passed } from '../../results.ts';

export const tokenInEnvironment: Check = {
  ...{ id: 'SVC-CONFIG-008', area: 'configuration', level: 'warning', needs: 'none' },
  title: 'No token of the secrets server stands in the environment',
  cause:
    'VAULT_TOKEN is set. What starts in this environment inherits it, and other processes of the same user can read it.',
  fix: 'Use kubernetes auth in pods, and VAULT_TOKEN_FILE elsewhere.',
  async run({ env }) {
    if (!env['VAULT_TOKEN']) return passed();
    return failed({ subject: 'VAULT_TOKEN', message: 'It is set.' });
  },
};
