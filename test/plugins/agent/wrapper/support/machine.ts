import type { SvcAgent } from '../../../../support/svc-agent.ts';
import { startSvcAgent } from '../../../../support/svc-agent.ts';

/** Where things are on the machine that a scenario runs on: this one, or a virtual one. */
export interface Machine {
  /** The program of test/tools/bypass. */
  readonly bypass: string;
  /** The wrapper as a command. */
  readonly wrapper: readonly string[];
  /** The application of fixtures/application.ts as a command. */
  readonly application: readonly string[];
  /** The demo server of the Go SDK. */
  readonly goDemo: string;
  /** On a BPF file system. */
  readonly bpfFolder: string;
  readonly tier: 1 | 2 | 3;
}

/** An agent that has to work on the machine's tier, and to enforce. */
export async function startEnforcing({ bpfFolder, tier }: Machine): Promise<SvcAgent> {
  const env = { SVC_AGENT_TIERS: String(tier), SVC_AGENT_REACTIVE_KILL: 'true' };
  const agent = await startSvcAgent({ bpfFolder, env });
  if (agent.started['tier'] === String(tier) && agent.started['enforcing'] === 'true') return agent;
  await agent.stop();
  throw new Error(`The agent does not enforce on tier ${tier}\n${agent.output()}`);
}
