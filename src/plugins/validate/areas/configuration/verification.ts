import type { Check, CheckFailure } from '../../contract.ts';
import { verdict } from '../../results.ts';

export const verification: Check = {
  ...{ id: 'SVC-CONFIG-005', area: 'configuration', level: 'error', needs: 'none' },
  title: 'Certificates are verified',
  cause:
    'VAULT_SKIP_VERIFY or NODE_TLS_REJECT_UNAUTHORIZED was set for a test. Whoever is on the way can then read secrets and keys.',
  fix: 'Unset them, and give the private authority by VAULT_CACERT, SVC_BROKER_TLS_CA or AWS_CA_BUNDLE.',
  async run({ env, config }) {
    const failures: CheckFailure[] = [];
    if (config.vaultSkipVerify)
      failures.push({ subject: 'VAULT_SKIP_VERIFY', message: 'The secrets server is not verified.' });
    if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0')
      failures.push({ subject: 'NODE_TLS_REJECT_UNAUTHORIZED', message: 'No server is verified.' });
    return verdict(failures);
  },
};
