import type { Judgement, Rule } from '../judgement.ts';
import type { Subject } from '../subject.ts';

const of = 5;

/** The agent of its node covers the pod's processes. */
export const coverage: Rule = { name: 'coverage', of, judge };

function judge({ agent }: Subject): Judgement {
  if (agent === undefined) {
    return { points: 0, because: 'No node agent tells about this pod.', remedy: 'Run the node agent there.' };
  }
  if (agent.covered) return { points: of, because: "The node agent covers the pod's processes." };
  if (agent.uncoveredReason) {
    const because = `The node agent does not cover this pod: ${agent.uncoveredReason}`;
    return { points: 0, because, remedy: "Look at the agent's log and /readyz on this node." };
  }
  return {
    points: 0,
    because: 'The node agent does not cover this pod.',
    remedy: 'Have the pod protected, so that it is labelled or registers itself.',
  };
}
