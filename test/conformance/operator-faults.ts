import { longSuites } from './support/long-suites.ts';

/** The suites of the operator that take minutes, one after the other. */
export const operatorFaults = longSuites({
  name: 'operator-faults',
  summary:
    'the operator when its leader stands still, and when the API server, watches and etcd are cut; ways to pods; Cilium; INSTALL.md',
  folders: ['plugins/operator/', 'plugins/netpol/', 'docs/'],
});
