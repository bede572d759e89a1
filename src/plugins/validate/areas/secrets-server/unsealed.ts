import { failed, passed } from '../../results.ts';
import { sealStatus } from './seal-status.ts';
import { vaultCheck } from './vault-check.ts';

export const unsealed = vaultCheck(
  {
    id: 'SVC-VAULT-002',
    title: 'The secrets server is initialised and unsealed',
    level: 'error',
    cause:
      'It was restarted without automatic unsealing, or somebody has sealed it. Nobody can log in meanwhile.',
    fix: 'Unseal it (bao operator unseal), and set up automatic unsealing by a key of your own in the EU.',
  },
  async ({ address }, context) => {
    const { initialized, sealed } = await sealStatus(context);
    const subject = address.host;
    if (!initialized) return failed({ subject, message: 'It has not been initialised.' });
    return sealed ? failed({ subject, message: 'It is sealed.' }) : passed();
  },
);
