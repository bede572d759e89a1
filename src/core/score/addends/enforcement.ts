import { tierNames } from '../../protection/tier.ts';
import type { Judgement, Rule } from '../judgement.ts';
import type { Subject } from '../subject.ts';

const of = 20;

/** What the node agent does about attempts on this pod's processes; nothing counts where it does not know the pod. */
export const enforcement: Rule = { name: 'enforcement', of, judge };

const seeCoverage = 'See coverage: the agent has to know the pod first.';
const kernel = 'Use nodes whose kernel has bpf in its LSM list, or BTF.';

function judge({ agent }: Subject): Judgement {
  if (agent === undefined) {
    return { points: 0, because: 'No node agent tells what it does.', remedy: 'Run the node agent there.' };
  }
  if (!agent.covered)
    return { points: 0, because: 'The agent does not guard this pod.', remedy: seeCoverage };
  if (agent.tier === 1 || agent.tier === 2) return byHook(tierNames[agent.tier], agent.enforcing);
  if (agent.tier === 3) return byTracepoint(agent.enforcing);
  return { points: 0, because: 'The agent could load nothing into the kernel.', remedy: kernel };
}

function byHook(tier: string, enforcing: boolean): Judgement {
  if (enforcing) return { points: of, because: `Reads by other processes are denied (${tier}).` };
  return {
    points: 4,
    because: `Reads by other processes are seen and not denied (${tier}).`,
    remedy: 'Switch the agent to enforcing (enforceMode).',
  };
}

function byTracepoint(enforcing: boolean): Judgement {
  if (enforcing) {
    const because = 'Whoever reads is killed, perhaps after a first read (tracepoint).';
    return { points: 12, because, remedy: kernel };
  }
  return {
    points: 3,
    because: 'Reads by other processes are seen and not stopped (tracepoint).',
    remedy: `${kernel} Or have readers killed (reactiveKill).`,
  };
}
