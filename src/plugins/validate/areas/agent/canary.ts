import { counted } from '../../../../core/counted.ts';
import { agentPodsOf } from '../../cluster/agents.ts';
import { capped } from '../../cluster/capped.ts';
import type { Check } from '../../contract.ts';
import { skipped, verdict } from '../../results.ts';

export const canary: Check = {
  ...{ id: 'SVC-AGENT-002', area: 'agent', level: 'error', needs: 'cluster', timeoutMs: 60_000 },
  title: "On every node the agent's canary proves that a read is stopped or seen",
  cause:
    'An agent is ready only while an attempt on its own decoy fails or is seen. The kernel may load no programs (lockdown, no BTF), or with ebpf.requireEnforcement none that deny.',
  fix: 'Read the reason: kubectl -n svc-system logs, or /readyz on port 9090 of the pod. docs/AGENT.md says what each tier needs.',
  async run(context) {
    const pods = await agentPodsOf(context);
    if (pods.length === 0) return skipped('There are no agents');
    const failures = pods
      .filter(({ ready }) => !ready)
      .map(({ key, node }) => ({ subject: node ?? key, message: `The agent ${key} is not ready.` }));
    return verdict(capped(failures), counted(pods.length, 'agent'));
  },
};
