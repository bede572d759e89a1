import { suite } from 'uvu';
import { startOperator, type TestOperator } from '../../../support/operator-channel.ts';
import { type AgentRig, type RigOptions, startAgent } from './agent-rig.ts';

interface Context {
  operator: TestOperator;
  /** Reports to it. */
  start(options?: Partial<RigOptions>): AgentRig;
  agents: AgentRig[];
}

/** A suite each test of which has an operator of its own, and agents that end with it. */
export function suiteWithOperator(title: string) {
  const test = suite<Context>(title);
  test.before.each(async (context) => {
    context.operator = await startOperator();
    context.agents = [];
    context.start = (options) => {
      const agent = startAgent({ ...context.operator, ...options });
      context.agents.push(agent);
      return agent;
    };
  });
  test.after.each(async ({ operator, agents }) => {
    await Promise.all(agents.map(({ channel }) => channel.close()));
    await operator.stop();
  });
  return test;
}
