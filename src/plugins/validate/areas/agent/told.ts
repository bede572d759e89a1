import { counted } from '../../../../core/counted.ts';
import { concurrently } from '../../../../runtime/lifecycle/concurrently.ts';
import { agentPodsOf } from '../../cluster/agents.ts';
import { askPod } from '../../cluster/ask-pod.ts';
import { capped } from '../../cluster/capped.ts';
import { problemOf } from '../../cluster/pod-answer.ts';
import type { SeenPod } from '../../cluster/pods.ts';
import type { CheckContext, CheckFailure, CheckResult } from '../../contract.ts';
import { skipped, verdict, verdictOnPart } from '../../results.ts';
import { shared } from '../../shared.ts';
import { type AgentFacts, agentFacts } from './page-facts.ts';

/** What is wrong with a node, by what its agent says. */
export type Judge = (
  facts: AgentFacts,
  node: string | undefined,
) => Omit<CheckFailure, 'subject'> | undefined;

/** Judges every node whose agent runs; one that cannot be asked keeps the check from passing. */
export async function judgeAgents(context: CheckContext, judge: Judge): Promise<CheckResult> {
  const told = await toldOf(context);
  if (told.length === 0) return skipped('No agent runs');
  const failures = told.flatMap(({ pod, facts }) => {
    const found = facts && judge(facts, pod.node);
    return found === undefined ? [] : [{ subject: pod.node ?? pod.key, ...found }];
  });
  const silent = told.filter(({ facts }) => facts === undefined);
  const [first] = silent;
  if (first === undefined) return verdict(capped(failures), counted(told.length, 'node'));
  const reason = `${counted(silent.length, 'agent')} could not be asked through the API server, such as ${first.pod.key} (${first.problem})`;
  return verdictOnPart(capped(failures), reason);
}

interface Told {
  readonly pod: SeenPod;
  readonly facts: AgentFacts | undefined;
  /** Why there are none. */
  readonly problem: string;
}

const atOnce = 16;
const usualPort = 9090;

/** Of the agents that run. Their pages are long and nodes many, so that nothing is kept but what is judged. */
export const toldOf = shared(async (context): Promise<readonly Told[]> => {
  const running = (await agentPodsOf(context)).filter((pod) => pod.running);
  return concurrently(running, atOnce, async (pod) => {
    const answer = await askPod(context, pod, pod.ports['health'] ?? usualPort, 'metrics');
    const facts = answer.kind === 'ok' ? agentFacts(answer.text) : undefined;
    return { pod, facts, problem: problemOf(answer) ?? 'it does not tell its tier' };
  });
});
