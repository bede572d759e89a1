import { counted } from '../../../../../core/counted.ts';
import { capped } from '../../../cluster/capped.ts';
import { operatorMetrics } from '../../../cluster/leader.ts';
import { sumOf } from '../../../cluster/metrics-text.ts';
import { operatorOf } from '../../../cluster/operator.ts';
import type { Check } from '../../../contract.ts';
import { failed, notEvaluated, passed, skipped } from '../../../results.ts';
import { toldOf } from '../../agent/told.ts';

export const agentsToOperator: Check = {
  ...{ id: 'SVC-NET-006', area: 'connectivity', level: 'error', needs: 'cluster', timeoutMs: 60_000 },
  title: 'Agents reach the operator on 8199 (it hears from each of them)',
  cause:
    'A network policy or firewall on port 8199, or agents without the certificate in the Secret svc-agent-tls, which the operator makes, or without a token of their pod. An agent reports every half a minute. Each is asked whether it is answered, and the operator of how many it hears.',
  fix: 'See operator.* in the log of an agent, and node.* in that of the operator.',
  async run(context) {
    const [operator, agents] = await Promise.all([operatorOf(context), toldOf(context)]);
    if (operator === undefined || agents.length === 0) return skipped('There is no operator, or no agent');
    const unheard = agents
      .filter(({ facts }) => facts?.isHeard === false)
      .map(({ pod }) => ({
        subject: pod.node ?? pod.key,
        message: 'The operator does not answer its agent.',
      }));
    if (unheard.length > 0) return failed(...capped(unheard));
    // those that do not say so, or cannot be asked
    const heard = sumOf(await operatorMetrics(context), 'svc_nodes');
    if (heard === undefined) return notEvaluated('The operator does not tell of whom it hears');
    if (heard >= agents.length) return passed(counted(heard, 'agent'));
    const message = `It hears from ${heard} of ${agents.length} agents that run.`;
    return failed({ subject: `${operator.namespace}/${operator.name}`, message });
  },
};
