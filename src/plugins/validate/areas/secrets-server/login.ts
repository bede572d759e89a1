import { messageOf } from '../../../../core/errors.ts';
import { isVaultError } from '../../../../runtime/vault/errors.ts';
import { failed, passed } from '../../results.ts';
import { vaultCheck } from './vault-check.ts';

export const login = vaultCheck(
  {
    id: 'SVC-VAULT-006',
    title: 'The login works',
    level: 'error',
    cause:
      'The token is wrong or has ended; the role is not there, or is bound to another service account, namespace or audience; the auth method is mounted elsewhere.',
    fix: 'Check VAULT_AUTH_ROLE and VAULT_AUTH_MOUNT_PATH, and what the role is bound to; with a token, give a valid one by VAULT_TOKEN_FILE.',
  },
  async (vault) => {
    try {
      await vault.workload();
      return passed();
    } catch (error) {
      if (!isVaultError(error) || error.kind === 'unavailable') throw error;
      return failed({ subject: vault.address.host, message: `${messageOf(error)}.` });
    }
  },
);
