import { counted } from '../../../../core/counted.ts';
import { agentPodsOf } from '../../cluster/agents.ts';
import { capped } from '../../cluster/capped.ts';
import { needsAgent } from '../../cluster/node-kinds.ts';
import { nodesOf } from '../../cluster/nodes.ts';
import { agentName, agentsOf } from '../../cluster/operator.ts';
import { protectedPodsOf } from '../../cluster/protected-pods.ts';
import type { Check } from '../../contract.ts';
import { failed, skipped, verdict } from '../../results.ts';

export const coverage: Check = {
  ...{ id: 'SVC-AGENT-001', area: 'agent', level: 'warning', needs: 'cluster', timeoutMs: 60_000 },
  title: 'An agent is on every node that pods can run on',
  cause:
    'The DaemonSet is not installed or its node selector leaves nodes out, its image cannot be pulled, or a policy refuses privileged pods. It is an error where a protected pod runs.',
  fix: 'Look at kubectl -n svc-system describe daemonset svc-ebpf, and at ebpf.nodeSelector of the chart.',
  async run(context) {
    const agents = await agentsOf(context);
    const subject = `${context.config.operatorNamespace}/${agentName}`;
    if (agents === undefined)
      return failed({ subject, message: 'There is no such DaemonSet.', level: 'error' });
    const [nodes, pods, { labelled }] = await Promise.all([
      nodesOf(context),
      agentPodsOf(context),
      protectedPodsOf(context),
    ]);
    const covered = new Set(pods.filter(({ running }) => running).map(({ node }) => node));
    const used = new Set(labelled.map(({ node }) => node));
    const wanted = nodes.filter(needsAgent);
    if (wanted.length === 0) return skipped('There is no node that an agent can run on');
    const bare = wanted.filter(({ name }) => !covered.has(name));
    const failures = bare.map(({ name }) => ({
      subject: name,
      message: used.has(name) ? 'No agent runs there, and protected pods do.' : 'No agent runs there.',
      ...(used.has(name) && { level: 'error' as const }),
    }));
    return verdict(capped(failures), counted(wanted.length, 'node'));
  },
};
