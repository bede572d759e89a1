import { longSuites } from './support/long-suites.ts';

/** The suites of the node agent that boot machines for minutes, one after the other. */
export const agentMachines = longSuites({
  name: 'agent-machines',
  summary:
    'the node agent in virtual machines: faults, attacks, races and the wrapper under it, on both upper tiers',
  folders: ['support/vm/', 'tools/', 'plugins/agent/'],
});
