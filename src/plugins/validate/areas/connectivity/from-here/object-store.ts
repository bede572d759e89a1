import type { Check } from '../../../contract.ts';
import { connects } from './connects.ts';

export const objectStoreConnects: Check = {
  ...{ id: 'SVC-NET-051', area: 'connectivity', level: 'error', needs: 'store' },
  title: 'The object store takes connections from here',
  cause:
    'Its name is not known to the DNS that is used here, nothing listens on the port, or a firewall is in between.',
  fix: 'Open the way from proxies to the object store, on port 443 or that of --upstream.',
  run: async (context, signal) => connects((await context.store()).address, signal),
};
