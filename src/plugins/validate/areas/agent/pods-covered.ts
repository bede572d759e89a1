import { counted } from '../../../../core/counted.ts';
import { protectedPodsOf } from '../../cluster/protected-pods.ts';
import type { Check, CheckFailure } from '../../contract.ts';
import type { AgentFacts } from './page-facts.ts';
import { judgeAgents } from './told.ts';

export const podsCovered: Check = {
  ...{ id: 'SVC-AGENT-006', area: 'agent', level: 'error', needs: 'cluster', timeoutMs: 60_000 },
  title: 'The agent of each node covers every running pod there that is labelled svc/protected=true',
  cause:
    'The agent does not see the cgroups of pods (no cgroup v2, another SVC_CGROUP_ROOT than the host mounts them at), may not list pods, has another NODE_NAME than its node, or its table in the kernel is full.',
  fix: 'Read /healthz and /readyz on port 9090 of the agent, which name the pods and say why; mount /sys/fs/cgroup of the host there.',
  async run(context) {
    const { labelled } = await protectedPodsOf(context);
    const running = labelled.filter((pod) => pod.running);
    const wanted = Map.groupBy(running, ({ node }) => node);
    return judgeAgents(context, (facts, node) => problemOf(facts, wanted.get(node)?.length ?? 0));
  },
};

const mostNamed = 5;

function problemOf(
  { coveredPods, uncoveredPods }: AgentFacts,
  wanted: number,
): Omit<CheckFailure, 'subject'> | undefined {
  if (uncoveredPods.length > 0) {
    const named = uncoveredPods.slice(0, mostNamed).join(', ');
    return { message: `${counted(uncoveredPods.length, 'labelled pod')} not covered, such as ${named}.` };
  }
  if (coveredPods >= wanted) return undefined;
  return { message: `${counted(wanted, 'labelled pod')} wanted, ${coveredPods} covered.` };
}
