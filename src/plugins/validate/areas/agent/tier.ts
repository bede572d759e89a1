import type { Check, CheckFailure } from '../../contract.ts';
import type { AgentFacts } from './page-facts.ts';
import { judgeAgents } from './told.ts';

export const tier: Check = {
  ...{ id: 'SVC-AGENT-003', area: 'agent', level: 'error', needs: 'cluster', timeoutMs: 60_000 },
  title: 'On every node reads by other processes are denied (tier 1 or 2, enforcing)',
  cause:
    'enforceMode is false, or the kernel has neither bpf in its LSM list nor BTF: then readers are killed at best (reactiveKill), which is a warning, or only seen.',
  fix: 'Set enforceMode=true, and use nodes with bpf in lsm= or with BTF; at least set reactiveKill=true.',
  run: (context) => judgeAgents(context, problemOf),
};

function problemOf({ tier, enforcing }: AgentFacts): Omit<CheckFailure, 'subject'> | undefined {
  if (tier === undefined) return { message: 'No tier is in force yet.' };
  if (tier === 4) return { message: 'Nothing could be loaded into the kernel (tier 4).' };
  if (!enforcing) return { message: `Reads are seen and not stopped (tier ${tier}).` };
  if (tier === 3)
    return { message: 'Readers are killed, perhaps after a first read (tier 3).', level: 'warning' };
  return undefined;
}
