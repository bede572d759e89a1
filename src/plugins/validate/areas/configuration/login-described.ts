import { applyRules } from '../../../../core/settings/rules.ts';
import { vaultRules } from '../../../../runtime/vault/rules.ts';
import type { Check } from '../../contract.ts';
import { skipped, verdict } from '../../results.ts';
import { asFailure } from './values.ts';

export const loginDescribed: Check = {
  ...{ id: 'SVC-CONFIG-007', area: 'configuration', level: 'error', needs: 'none' },
  title: 'It is said how to log in at the secrets server',
  cause: 'A role, a token or one file of a pair is missing, or a file that is named cannot be read.',
  fix: 'For pods set VAULT_AUTH_ROLE; elsewhere give a token by VAULT_TOKEN_FILE.',
  async run({ config }) {
    const { vaultAddr } = config;
    if (vaultAddr === undefined) return skipped('No secrets server is named: set VAULT_ADDR.');
    return verdict(applyRules({ ...config, vaultAddr }, vaultRules).map(asFailure));
  },
};
