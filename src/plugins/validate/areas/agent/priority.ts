import { agentsOf } from '../../cluster/operator.ts';
import type { Check } from '../../contract.ts';
import { failed, passed, skipped } from '../../results.ts';

const wanted = 'system-node-critical';

export const priority: Check = {
  ...{ id: 'SVC-AGENT-005', area: 'agent', level: 'warning', needs: 'cluster' },
  title: 'Agents are evicted last (priority class system-node-critical)',
  cause:
    'The DaemonSet was changed: a node that runs short of memory evicts the agent before the pods that it guards.',
  fix: 'Apply the chart again.',
  async run(context) {
    const agents = await agentsOf(context);
    if (agents === undefined) return skipped('The agents are not installed');
    const { namespace, name, priorityClass = 'none' } = agents;
    if (priorityClass === wanted) return passed();
    return failed({ subject: `${namespace}/${name}`, message: `Its priority class is ${priorityClass}.` });
  },
};
