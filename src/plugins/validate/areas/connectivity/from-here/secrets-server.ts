import type { Check } from '../../../contract.ts';
import { connects } from './connects.ts';

export const secretsServerConnects: Check = {
  ...{ id: 'SVC-NET-050', area: 'connectivity', level: 'error', needs: 'vault' },
  title: 'The secrets server takes connections from here',
  cause:
    'Its name is not known to the DNS that is used here, nothing listens on the port, or a firewall is in between.',
  fix: 'Open the way from application pods and proxies to the secrets server, on port 443 or that of VAULT_ADDR.',
  run: async (context, signal) => connects((await context.vault()).address, signal),
};
