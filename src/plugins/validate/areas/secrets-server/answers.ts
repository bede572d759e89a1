import { messageOf } from '../../../../core/errors.ts';
import { isVaultError } from '../../../../runtime/vault/errors.ts';
import { failed, passed } from '../../results.ts';
import { sealStatus } from './seal-status.ts';
import { vaultCheck } from './vault-check.ts';

export const answers = vaultCheck(
  {
    id: 'SVC-VAULT-001',
    title: 'The secrets server answers',
    level: 'error',
    cause:
      'The name is not known here, nothing listens, a firewall or network policy is in between, or its certificate is not trusted.',
    fix: 'Check VAULT_ADDR and, from where pods run, the way to it on its port; for a private authority give VAULT_CACERT.',
  },
  async ({ address }, context) => {
    try {
      await sealStatus(context);
      return passed(address.host);
    } catch (error) {
      if (!isVaultError(error)) throw error;
      return failed({ subject: address.host, message: `${messageOf(error)}.` });
    }
  },
);
